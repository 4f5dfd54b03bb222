import type { AdmittedTurn, Classification, FlowControl, RefusedTurn } from '../flow-control/flow-control.ts';
import type { AuthenticatedRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseSink, StreamResponse } from '../request/api-response.ts';

/**
 * Lets a request go on when it is its turn, or answers 429. Whatever the answer, it tells how the request was classified. The
 * seats are free again when the answer is known; a client that reads slowly holds none, and a watch none from the moment it
 * has sent what it begins with.
 */
export async function takeTurn(
  { flowControl }: { readonly flowControl: FlowControl | undefined },
  request: AuthenticatedRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const begun = flowControl?.begin(request);
  if (begun === undefined) return next();
  const turn = begun instanceof Promise ? await begun : begun;
  tellClassification(request, turn.classification);
  if (!turn.admitted) return tooManyRequests(turn);
  let response: ApiResponse;
  try {
    response = await next();
  } catch (error) {
    turn.end();
    throw error;
  }
  if (response.kind === 'stream') return { ...response, run: runOf(response, turn) };
  // A tunnel is somebody else's connection; how long it lasts says nothing about what it costs here.
  turn.end();
  return response;
}

function tellClassification(request: AuthenticatedRequest, classification: Classification | undefined): void {
  if (classification === undefined) return;
  request.addHeader('x-kubernetes-pf-flowschema-uid', classification.schemaUid);
  request.addHeader('x-kubernetes-pf-prioritylevel-uid', classification.levelUid);
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
function tooManyRequests({ retryAfterSeconds }: RefusedTurn): ApiResponse {
  return {
    kind: 'bytes',
    code: 429,
    contentType: 'text/plain; charset=utf-8',
    headers: { 'retry-after': String(retryAfterSeconds), 'x-content-type-options': 'nosniff' },
    chunks: [REFUSAL],
    compressible: false,
  };
}

const REFUSAL = Buffer.from('Too many requests, please try again later.\n');
