import { badRequest, internalError, StatusError, type StatusReason, unknownError } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import {
  authorityOf,
  type Backend,
  type BackendAnswer,
  BackendError,
  type BackendTransport,
  urlOf,
} from '../request/backend.ts';
import { readStart, streamAnswer } from './stream-answer.ts';

interface LogOptions {
  /** The resource that errors name: `pods/log`. */
  readonly resource: string;
  readonly name: string;
  /** A followed log may be silent for long, even before its head. */
  readonly follow: boolean;
}

/** Streams the text of a node agent's answer, without its headers. @throws StatusError */
export async function streamLog(
  transport: BackendTransport,
  backend: Backend,
  request: ApiRequest,
  options: LogOptions,
): Promise<ApiResponse> {
  const answer = await ask(transport, backend, request, options);
  if (answer.code < 200 || answer.code > 206) throw await toError(answer, backend, options);
  return streamAnswer(request, answer.body, { code: 200, contentType: 'text/plain', headers: {} });
}

async function ask(
  transport: BackendTransport,
  backend: Backend,
  { signal }: ApiRequest,
  { follow }: LogOptions,
): Promise<BackendAnswer> {
  const headers = ['Host', authorityOf(backend), 'User-Agent', 'pg-apiserver', 'Accept', '*/*'];
  try {
    return await transport.send(backend, { method: 'GET', headers, signal, hurried: !follow });
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    throw unknownError(`Get ${JSON.stringify(urlOf(backend))}: ${error.message}`, error);
  }
}

/** The rest of a longer error text is useless (Kubernetes: the same). */
const MAX_ERROR_BYTES = 50_000;

/** Translates an agent's refusal for the client (Kubernetes: GenericHttpResponseChecker and NewGenericServerResponse). */
async function toError(
  { code, body }: BackendAnswer,
  backend: Backend,
  { resource, name }: LogOptions,
): Promise<StatusError> {
  if (code < 400) {
    body.destroy();
    return unknownError(`Get ${JSON.stringify(urlOf(backend))}: redirects forbidden`);
  }
  const said = await readStart(body, MAX_ERROR_BYTES);
  if (code === 500) return internalError(said);
  if (code === 400) return badRequest(said);
  const [reason, message] = genericAnswer(code, said);
  return new StatusError({
    code,
    reason,
    message: `${message} ( ${resource} ${name})`,
    details: { name, kind: resource },
  });
}

const GENERIC: Readonly<Record<number, readonly [StatusReason, string]>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
};

function genericAnswer(code: number, said: string): readonly [StatusReason, string] {
  if (code === 403) return ['Forbidden', said];
  const known = GENERIC[code];
  if (known !== undefined) return known;
  return code > 500
    ? [
        'InternalError',
        `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`,
      ]
    : ['', `the server responded with the status code ${code} but did not return more information`];
}
