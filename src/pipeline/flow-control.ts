import type { AdmittedTurn, Classification, FlowControl, RefusedTurn } from '../flow-control/flow-control.ts';
import type { AuthenticatedRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseHeaders, ResponseSink, StreamResponse } from '../request/api-response.ts';

/**
 * Lets a request go on when it is its turn, or answers 429. `next` should not reject: what it throws is passed on, and the
 * headers that tell how the request was classified are lost. The seats are free again when the answer is known; a client
 * that reads slowly holds none, and a watch none from the moment it has sent what it begins with.
 */
export async function takeTurn(
  { flowControl }: { readonly flowControl: FlowControl | undefined },
  request: AuthenticatedRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const begun = flowControl?.begin(request);
  if (begun === undefined) return next();
  const turn = begun instanceof Promise ? await begun : begun;
  if (!turn.admitted) return tooManyRequests(turn);
  let response: ApiResponse;
  try {
    response = await next();
  } catch (error) {
    turn.end();
    throw error;
  }
  switch (response.kind) {
    case 'bytes':
      turn.end();
      return { ...response, headers: withClassification(response.headers, turn.classification) };
    case 'stream': {
      const headers = withClassification(response.headers, turn.classification);
      return { ...response, headers, run: runOf(response, turn) };
    }
    case 'tunnel':
      // The connection is somebody else's now; how long it lasts says nothing about what it costs here.
      turn.end();
      return response;
    default:
      return response satisfies never;
  }
}

function runOf(response: StreamResponse, turn: AdmittedTurn): StreamResponse['run'] {
  return async (sink) => {
    try {
      await response.run(noticing(sink, turn));
    } finally {
      turn.end();
    }
  };
}

const noticing = (sink: ResponseSink, turn: AdmittedTurn): ResponseSink => ({
  open: () => sink.open(),
  write: (frame) => sink.write(frame),
  drained: () => sink.drained(),
  initialized: () => {
    turn.initialized();
    sink.initialized?.();
  },
});

/** Kubernetes' text and headers; clients look at the code and at Retry-After. */
function tooManyRequests({ classification, retryAfterSeconds }: RefusedTurn): ApiResponse {
  const headers = { 'retry-after': String(retryAfterSeconds), 'x-content-type-options': 'nosniff' };
  return {
    kind: 'bytes',
    code: 429,
    contentType: 'text/plain; charset=utf-8',
    headers: withClassification(headers, classification),
    chunks: [REFUSAL],
    compressible: false,
  };
}

const REFUSAL = Buffer.from('Too many requests, please try again later.\n');

function withClassification(
  headers: ResponseHeaders | undefined,
  classification: Classification | undefined,
): ResponseHeaders {
  if (classification === undefined) return headers ?? {};
  return {
    ...headers,
    'x-kubernetes-pf-flowschema-uid': classification.schemaUid,
    'x-kubernetes-pf-prioritylevel-uid': classification.levelUid,
  };
}
