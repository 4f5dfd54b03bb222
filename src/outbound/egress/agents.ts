import { lookup as lookupHost } from 'node:dns';
import { Agent as HttpAgent, type AgentOptions as HttpAgentOptions } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dial } from './dial.ts';

/** Agents whose connections are dialled by way of a proxy. Without a dial they are Node's own. */

export const createHttpAgent = (options: HttpAgentOptions, dial: Dial | undefined): HttpAgent =>
  dial === undefined ? new HttpAgent(options) : new DialledHttpAgent(options, dial);

export const createHttpsAgent = (options: AgentOptions, dial: Dial | undefined): HttpsAgent =>
  dial === undefined ? new HttpsAgent(options) : new DialledHttpsAgent(options, dial);

type Connected = (error: Error | null, stream: Duplex) => void;

/** What an agent knows of the connection it wants. */
interface Wanted {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
  readonly defaultPort?: number | string | undefined;
  readonly lookup?: LookupFunction | undefined;
}

class DialledHttpAgent extends HttpAgent {
  readonly #dial: Dial;

  constructor(options: HttpAgentOptions, dial: Dial) {
    super(options);
    this.#dial = dial;
  }

  override createConnection(options: Wanted, connected?: Connected): null {
    reach(options, this.#dial).then(
      (stream) => connected?.(null, stream),
      (error: Error) => connected?.(error, NOTHING),
    );
    return null;
  }
}

class DialledHttpsAgent extends HttpsAgent {
  readonly #dial: Dial;

  constructor(options: AgentOptions, dial: Dial) {
    super(options);
    this.#dial = dial;
  }

  override createConnection(options: Wanted, connected?: Connected): null {
    reach(options, this.#dial).then(
      (socket) => {
        const secured = super.createConnection({ ...options, socket } as AgentOptions);
        connected?.(null, secured as Duplex);
      },
      (error: Error) => connected?.(error, NOTHING),
    );
    return null;
  }
}

/** Beside an error nobody looks at the stream. */
const NOTHING = undefined as unknown as Duplex;

/** A host that only this server can resolve, a service, is resolved here; any other at the end of the way. */
async function reach({ host, port, defaultPort, lookup }: Wanted, dial: Dial): Promise<Duplex> {
  const name = host ?? 'localhost';
  const isOurs = lookup !== undefined && lookup !== lookupHost && isIP(name) === 0;
  return dial(isOurs ? await resolveBy(lookup, name) : name, Number(port ?? defaultPort));
}

function resolveBy(lookup: LookupFunction, host: string): Promise<string> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: false }, (error, address) => {
      if (error === null) resolve(String(address));
      else reject(error);
    }),
  );
}
