import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import type { JsonValue } from '../api/object-meta.ts';
import { HttpStatusError, readAnswer } from './answer.ts';
import type { RemoteServer } from './client-config.ts';

/** Sends a JSON body and answers the JSON that came back. @throws Error */
export type JsonPost = (body: JsonValue, signal: AbortSignal) => Promise<JsonValue>;

const ANSWER = { succeeds: (code: number): boolean => code >= 200 && code <= 299, maxBytes: 3 * 1024 * 1024 };
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

const read = async (response: IncomingMessage): Promise<JsonValue> =>
  JSON.parse(await readAnswer(response, ANSWER)) as JsonValue;

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
