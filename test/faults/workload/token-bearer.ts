import type { Finding } from '../judge/record.ts';
import type { Random } from '../random.ts';
import { sleep } from '../world/until.ts';
import type { Caller } from './http.ts';
import { NAMESPACE } from './keys.ts';

const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const KEPT = 20;

/** Asks one server for tokens and shows them to another: a token is good everywhere and at once, with every key that signs. */
export class TokenBearer {
  readonly findings: Finding[] = [];
  checked = 0;
  readonly #callers: readonly Caller[];
  readonly #random: Random;

  constructor(options: { callers: readonly Caller[]; random: Random }) {
    this.#callers = options.callers;
    this.#random = options.random;
  }

  async run(signal: AbortSignal): Promise<void> {
    const tokens: { readonly token: string; readonly from: number }[] = [];
    while (!signal.aborted) {
      try {
        const issuer = this.#random.pick(this.#callers);
        const issued = await this.#issue(issuer);
        if (issued !== undefined) tokens.push({ token: issued, from: issuer.index });
        if (tokens.length > KEPT) tokens.splice(this.#random.between(0, tokens.length - 2), 1);
        if (tokens.length > 0) await this.#show(this.#random.pick(tokens));
        const newest = tokens.at(-1);
        if (newest !== undefined) await this.#show(newest);
      } catch {
        // Only what a server says of a token counts.
      }
      await sleep(100);
    }
  }

  async #issue(caller: Caller): Promise<string | undefined> {
    const path = `${ACCOUNTS}/robot/token`;
    const { code, text } = await caller.ask({ method: 'POST', path, body: { spec: {} }, headers: {} });
    return code === 201 ? JSON.parse(text).status.token : undefined;
  }

  async #show({ token, from }: { token: string; from: number }): Promise<void> {
    const caller = this.#random.pick(this.#callers);
    const headers = { authorization: `Bearer ${token}` };
    const { code } = await caller.ask({ method: 'POST', path: WHOAMI, body: {}, headers });
    this.checked += 1;
    if (code !== 401) return;
    const at = (performance.now() / 1000).toFixed(3);
    const facts = `server ${caller.index} refused a token of server ${from} at ${at} s`;
    this.findings.push({ rule: 'a token is good on every server', facts });
  }

  /** Made once, before tokens are asked for. */
  static async prepare(caller: Caller): Promise<void> {
    await caller.ask({ method: 'POST', path: ACCOUNTS, body: { metadata: { name: 'robot' } }, headers: {} });
  }
}
