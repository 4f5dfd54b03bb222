import { badRequest, unknownError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import {
  type Backend,
  type BackendAnswer,
  type BackendConnection,
  BackendError,
  type BackendTransport,
} from '../request/backend.ts';
import { answeredHeaders, forwardedHeaders } from './headers.ts';
import { streamAnswer } from './stream-answer.ts';
import { joinStreams } from './tunnel.ts';

/**
 * A request that changes the protocol of its connection: what the backend says to it is passed on to the byte, and then
 * everything in both directions.
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
  return {
    kind: 'tunnel',
    code: 101,
    head: { message, rawHeaders },
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

/** The backend's own words of why not. @throws StatusError for an answer that is none to an upgrade */
export function refusedUpgrade(request: ApiRequest, answer: BackendAnswer): ApiResponse {
  if (answer.code < 400) {
    answer.body.destroy();
    throw unknownError(`invalid upgrade response: status code ${answer.code}`);
  }
  const { 'content-type': contentType = '', ...headers } = answeredHeaders(answer);
  return streamAnswer(request, answer.body, { code: answer.code, contentType: String(contentType), headers });
}
