import { Agent, request } from 'node:https';
import { readAnswer } from './answer.ts';

/** Fetches a document by HTTPS. @throws Error, also for an answer that is not 200 */
export type HttpsGet = (url: string, options?: GetOptions) => Promise<string>;

export interface GetOptions {
  readonly authorization?: string;
  readonly signal?: AbortSignal;
}

/** Key sets and tokens are small. A redirect may lead anywhere: nobody asked for that place. */
const ANSWER = { succeeds: (code: number): boolean => code === 200, maxBytes: 1024 * 1024 };
/** Of a whole answer, however slowly it comes (Kubernetes: the same for identity providers). */
const TIMEOUT_MS = 30_000;

/** `ca` in PEM form; undefined: the authorities that the host trusts. */
export function createHttpsGet(ca: string | undefined, timeoutMs = TIMEOUT_MS): HttpsGet {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 2, ...(ca === undefined ? {} : { ca }) });
  return (url, { authorization, signal } = {}) =>
    new Promise((resolve, reject) => {
      const limit = AbortSignal.timeout(timeoutMs);
      const options = {
        agent,
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        ...(authorization === undefined ? {} : { headers: { authorization } }),
      };
      const sent = request(
        url,
        options,
        (response) => void readAnswer(response, ANSWER).then(resolve, reject),
      );
      sent.once('error', reject);
      sent.end();
    });
}
