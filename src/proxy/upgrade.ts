import type { Duplex } from 'node:stream';
import { badRequest, unknownError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import {
  type Backend,
  type BackendAnswer,
  type BackendConnection,
  BackendError,
  type BackendTransport,
  encodePath,
} from '../request/backend.ts';
import { confined, confinedHead } from './confined-pages.ts';
import { answeredHeaders, forwardedHeaders } from './headers.ts';
import { streamAnswer } from './stream-answer.ts';
import { outerPrefix } from './url-paths.ts';

/**
 * Forwards a request that changes protocols: the backend's answer byte for byte, and then all data in both directions.
 * @throws StatusError
 */
export async function upgrade(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
): Promise<ApiResponse> {
  if (request.raw.upgrade === '') throw badRequest('Upgrade request required');
  const answer = await askUpgrade(transport, backend, request);
  if (answer.kind === 'answer') return refusedUpgrade(request, answer);
  const { message, rawHeaders, stream } = answer;
  const prefix = encodePath(outerPrefix(request.path, backend.path));
  return {
    kind: 'tunnel',
    code: 101,
    head: { message, rawHeaders: confinedHead(rawHeaders, prefix) },
    run: (client) => joinStreams(client, stream, request.signal),
  };
}

/** @throws StatusError 500 */
export async function askUpgrade(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
  as = { method: request.method, headers: forwardedHeaders(request) },
): Promise<BackendAnswer | BackendConnection> {
  try {
    return await transport.upgrade(backend, { ...as, signal: request.signal, hurried: true });
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    throw unknownError(`error dialing backend: ${error.message}`, error);
  }
}

/** Passes on the backend's refusal. @throws StatusError for an answer that an upgrade cannot have */
export function refusedUpgrade(request: ApiRequest, answer: BackendAnswer): ApiResponse {
  if (answer.code < 400) {
    answer.body.destroy();
    throw unknownError(`invalid upgrade response: status code ${answer.code}`);
  }
  const scope = { prefix: encodePath(request.path), isSandboxed: true };
  const { 'content-type': contentType = '', ...headers } = confined(answeredHeaders(answer), scope);
  return streamAnswer(request, answer.body, { code: answer.code, contentType: String(contentType), headers });
}

/** How long one side may go on after the other has ended. */
const GRACE_MS = 10_000;

/**
 * Copies both ways, each no faster than its reader reads. Ends both when one ends, breaks or the signal aborts. Never rejects,
 * because most of these connections end by breaking.
 */
export function joinStreams(client: Duplex, backend: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const destroy = (): void => {
      client.destroy();
      backend.destroy();
    };
    const done = (): void => {
      if (!client.closed || !backend.closed) return;
      clearTimeout(grace);
      signal.removeEventListener('abort', destroy);
      resolve();
    };
    const follow = (side: Duplex, other: Duplex): void => {
      side.on('error', () => {});
      side.once('end', () => {
        grace ??= setTimeout(destroy, GRACE_MS).unref();
      });
      side.once('close', () => {
        // Bytes that were read may still be unsent.
        if (side.readableEnded) other.end(() => other.destroy());
        else other.destroy();
        done();
      });
    };
    follow(client, backend);
    follow(backend, client);
    signal.addEventListener('abort', destroy, { once: true });
    client.pipe(backend);
    backend.pipe(client);
    if (signal.aborted) destroy();
    else if (client.destroyed || backend.destroyed) destroy();
    done();
  });
}
