import { Hono } from 'hono';
import { dumpLevels, dumpQueues, dumpRequests, type RunningTurns } from '../flow-control/dumps.ts';
import type {
  AdmittedTurn,
  Classification,
  FlowClock,
  FlowControl,
  RefusedTurn,
} from '../flow-control/flow-control.ts';
import type { Level } from '../flow-control/levels.ts';
import { PLAIN_TEXT } from '../pages/pages.ts';
import type { AuthenticatedRequest } from '../request/api-request.ts';
import type { ApiResponse, ResponseSink, StreamResponse } from '../request/api-response.ts';
import { timeWait } from '../request/waits.ts';

/**
 * Runs a request in its turn, or answers 429. Every answer has headers with the classification of the request. The seats are
 * freed when the answer is known, so that slow readers hold none; a watch frees them after its initial events, or when it has waited for
 * its client for a second.
 */
export async function takeTurn(
  { flowControl }: { readonly flowControl: FlowControl | undefined },
  request: AuthenticatedRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const begun = flowControl?.begin(request);
  if (begun === undefined) return next();
  const turn = begun instanceof Promise ? await timeWait(request.waits, 'queue', begun) : begun;
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
  // A tunnel costs this server little, however long it lasts.
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

/**
 * How long a watch waits for its client, in all, before its seats are freed. Waiting costs this server nothing, and without a bound
 * clients that do not read their initial events would keep all others out of their level.
 */
const UNREAD_MS = 1000;

function noticing(sink: ResponseSink, turn: AdmittedTurn): ResponseSink {
  let leftMs = UNREAD_MS;
  return {
    open: () => sink.open(),
    write: (frame) => sink.write(frame),
    drained: async () => {
      const begunMs = performance.now();
      const timer = setTimeout(() => turn.initialized(), leftMs);
      await sink.drained();
      clearTimeout(timer);
      leftMs = Math.max(0, leftMs - (performance.now() - begunMs));
    },
    initialized: () => {
      turn.initialized();
      sink.initialized?.();
    },
    listed: () => sink.listed?.(),
  };
}

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

/** What other threads run. */
export type TurnsOfOthers = (asked: { readonly details: boolean }) => Promise<readonly RunningTurns[]>;

/** The queues and their waiting requests, for operators (Kubernetes: apf_controller_debug). */
export function createFlowControlDumps(
  levels: () => ReadonlyMap<string, Level>,
  clock: FlowClock,
  turnsOfOthers: TurnsOfOthers,
): Hono {
  return new Hono()
    .basePath('/debug/api_priority_and_fairness')
    .get('/dump_priority_levels', async () => {
      const others = await turnsOfOthers({ details: false });
      return toTable(dumpLevels(levels(), others));
    })
    .get('/dump_queues', () => toTable(dumpQueues(levels())))
    .get('/dump_requests', async ({ req }) => {
      const details = (req.query('includeRequestDetails') ?? '') !== '';
      const others = await turnsOfOthers({ details });
      return toTable(dumpRequests(levels(), { clock, details }, others));
    });
}

const toTable = (text: string): Response => new Response(text, { headers: { 'content-type': PLAIN_TEXT } });
