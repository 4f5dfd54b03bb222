import { Hono } from 'hono';
import type { FlowClock } from '../flow-control/clock.ts';
import { dumpLevels, dumpQueues, dumpRequests } from '../flow-control/dumps.ts';
import type { Level } from '../flow-control/seats/level.ts';
import { PLAIN_TEXT } from '../pages/plain-text.ts';

/** What waits where, for operators (Kubernetes: apf_controller_debug). */
export function createFlowControlDumps(levels: () => ReadonlyMap<string, Level>, clock: FlowClock): Hono {
  return new Hono()
    .basePath('/debug/api_priority_and_fairness')
    .get('/dump_priority_levels', () => toTable(dumpLevels(levels())))
    .get('/dump_queues', () => toTable(dumpQueues(levels())))
    .get('/dump_requests', ({ req }) => {
      const details = (req.query('includeRequestDetails') ?? '') !== '';
      return toTable(dumpRequests(levels(), { clock, details }));
    });
}

const toTable = (text: string): Response => new Response(text, { headers: { 'content-type': PLAIN_TEXT } });
