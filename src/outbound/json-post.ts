import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import type { JsonValue } from '../api/object-meta.ts';
import type { RemoteServer } from './client-config.ts';

/** What another server answered with instead of 2xx. */
export class HttpStatusError extends Error {
  readonly code: number;
  /** Whether it asked to come again. */
  readonly retryAfter: boolean;

  constructor(code: number, retryAfter: boolean) {
    super(`the server answered with status ${code}`);
    this.name = 'HttpStatusError';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Sends a JSON body and answers the JSON that came back. @throws Error */
export type JsonPost = (body: JsonValue, signal: AbortSignal) => Promise<JsonValue>;

/** An answer may be this long; what lies about its length cannot fill the memory. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;
const IDLE_SOCKETS = 8;

/** A connection to one server, kept open between requests. */
export function createJsonPost(server: RemoteServer): JsonPost {
  const url = new URL(server.url);
  const secure = url.protocol === 'https:';
  const agent = secure
    ? new Agent({
        keepAlive: true,
        maxFreeSockets: IDLE_SOCKETS,
        rejectUnauthorized: !server.insecureSkipVerify,
        ...(server.ca === undefined ? {} : { ca: server.ca }),
        ...(server.certificate === undefined ? {} : { cert: server.certificate, key: server.key }),
        ...(server.serverName === undefined ? {} : { servername: server.serverName }),
      })
    : new HttpAgent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(server.authorization === undefined ? {} : { authorization: server.authorization }),
  };
  return (body, signal) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const send = secure ? requestHttps : requestHttp;
      const options = {
        method: 'POST',
        agent,
        signal,
        headers: { ...headers, 'content-length': bytes.length },
      };
      const request = send(url, options, (response) => void read(response).then(resolve, reject));
      request.once('error', reject);
      request.end(bytes);
    });
}

async function read(response: IncomingMessage): Promise<JsonValue> {
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
  if (code < 200 || code > 299)
    throw new HttpStatusError(code, response.headers['retry-after'] !== undefined);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue;
}

/** Whether what failed may succeed when it is tried again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HttpStatusError) {
    return (
      error.retryAfter || error.code === 429 || error.code === 500 || error.code === 503 || error.code === 504
    );
  }
  const { code } = error as { code?: unknown };
  return (
    typeof code === 'string' &&
    ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'].includes(code)
  );
}
