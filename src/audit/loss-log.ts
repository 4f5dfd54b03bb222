import type { Logger } from '../observability/logger.ts';
import type { AuditMetrics } from './metrics.ts';
import type { LossReport } from './sink.ts';

/** At most a line a part in this time: a full disk would otherwise fill another one. */
const LINE_EVERY_MS = 1000;
const MAX_IDS = 10;

/** Counts lost events, and logs how many, why, and the audit ids of a few. */
export function createLossReport(options: {
  readonly logger: Logger;
  readonly metrics: AuditMetrics;
  readonly now?: () => number;
}): LossReport {
  const { logger, metrics, now = () => performance.now() } = options;
  const parts = new Map<string, { at: number; unsaid: number }>();
  return (part, error, records) => {
    metrics.lost(part, records.length);
    const { at, unsaid } = parts.get(part) ?? { at: Number.NEGATIVE_INFINITY, unsaid: 0 };
    const events = unsaid + records.length;
    if (now() - at < LINE_EVERY_MS) {
      parts.set(part, { at, unsaid: events });
      return;
    }
    parts.set(part, { at: now(), unsaid: 0 });
    logger.warn('audit events were lost', {
      part,
      events,
      err: error instanceof Error ? error.message : String(error),
      auditIDs: records.slice(0, MAX_IDS).map(({ event }) => event.auditID),
    });
  };
}
