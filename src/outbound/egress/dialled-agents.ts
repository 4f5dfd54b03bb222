import { Agent, type AgentOptions } from 'node:http';
import type { Dial } from './dial.ts';
import { type Connected, reach, type Wanted } from './reach.ts';

/** An agent for plain HTTP; for HTTPS there is SecureAgent. Without a dial it is Node's own. */
export const createHttpAgent = (options: AgentOptions, dial: Dial | undefined): Agent =>
  dial === undefined ? new Agent(options) : new DialledAgent(options, dial);

class DialledAgent extends Agent {
  readonly #dial: Dial;

  constructor(options: AgentOptions, dial: Dial) {
    super(options);
    this.#dial = dial;
  }

  override createConnection(options: Wanted, connected?: Connected): null {
    return reach(options, this.#dial, { join: (stream) => stream, connected });
  }
}
