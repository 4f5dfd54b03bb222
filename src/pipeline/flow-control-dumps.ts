import type { FlowClock } from '../flow-control/clock.ts';
import { dumpLevels, dumpQueues, dumpRequests } from '../flow-control/dumps.ts';
import type { Level } from '../flow-control/seats/level.ts';
import type { DocumentHandler } from './dispatch.ts';

const ROOT = '/debug/api_priority_and_fairness/';

/** What waits where, for operators (Kubernetes: apf_controller_debug). */
export function createFlowControlDumps(
  levels: () => ReadonlyMap<string, Level>,
  clock: FlowClock,
): DocumentHandler {
  return ({ path, query, method }) => {
    if (!path.startsWith(ROOT) || (method !== 'GET' && method !== 'HEAD')) return undefined;
    const details = (query.get('includeRequestDetails') ?? '') !== '';
    const text = toText(path.slice(ROOT.length), levels(), { clock, details });
    if (text === undefined) return undefined;
    const chunks = [Buffer.from(text)];
    return {
      kind: 'bytes',
      code: 200,
      contentType: 'text/plain; charset=utf-8',
      chunks,
      compressible: false,
    };
  };
}

function toText(
  name: string,
  levels: ReadonlyMap<string, Level>,
  options: { readonly clock: FlowClock; readonly details: boolean },
): string | undefined {
  switch (name) {
    case 'dump_priority_levels':
      return dumpLevels(levels);
    case 'dump_queues':
      return dumpQueues(levels);
    case 'dump_requests':
      return dumpRequests(levels, options);
    default:
      return undefined;
  }
}
