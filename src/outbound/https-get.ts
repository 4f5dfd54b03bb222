import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { HttpStatusError } from './json-post.ts';

/** Fetches a document by HTTPS. @throws Error, also for an answer that is not 200 */
export type HttpsGet = (url: string, options?: GetOptions) => Promise<string>;

export interface GetOptions {
  readonly authorization?: string;
  readonly signal?: AbortSignal;
}

/** Key sets and tokens are small; an answer that is not cannot fill the memory. */
const MAX_ANSWER_BYTES = 1024 * 1024;
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
      const sent = request(url, options, (response) => void read(response).then(resolve, reject));
      sent.once('error', reject);
      sent.end();
    });
}

async function read(response: IncomingMessage): Promise<string> {
  const code = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_ANSWER_BYTES) {
      response.destroy();
      throw new Error(`the server answered with more than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  // A redirect may lead anywhere: nobody asked for that place.
  if (code !== 200) throw new HttpStatusError(code, response.headers['retry-after'] !== undefined);
  return Buffer.concat(chunks).toString('utf8');
}
