import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from '../observability/logger.ts';
import { errorText } from '../util/error-text.ts';
import type { Level } from './audit-policy.ts';
import type { BufferState, LossReport } from './sink.ts';

/** The names are Kubernetes' (apiserver, audit/metrics.go). */
export class AuditMetrics {
  readonly #events: Counter;
  readonly #errors: Counter<'plugin'>;
  readonly #levels: Counter<'level'>;
  readonly #rejected: Counter;
  readonly #buffers = new Map<string, () => BufferState>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.#events = new Counter({
      name: 'apiserver_audit_event_total',
      help: 'Audit events handed to the back ends.',
      registers,
    });
    this.#errors = new Counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that were lost, by the part of a back end that lost them.',
      labelNames: ['plugin'],
      registers,
    });
    this.#levels = new Counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the level the audit policy gives them.',
      labelNames: ['level'],
      registers,
    });
    this.#rejected = new Counter({
      name: 'apiserver_audit_requests_rejected_total',
      help: 'Requests refused because their audit event could not be stored.',
      registers,
    });
    const buffers = this.#buffers;
    new Gauge({
      name: 'pg_apiserver_audit_buffer_events',
      help: 'Audit events that wait for a batch, and how many more may before events are lost.',
      labelNames: ['backend', 'state'],
      registers,
      collect() {
        for (const [backend, state] of buffers)
          for (const [name, events] of Object.entries(state())) this.set({ backend, state: name }, events);
      },
    });
  }

  /** Shows the buffer of a back end at each scrape. */
  showBuffer(backend: 'log' | 'webhook', state: () => BufferState): void {
    this.#buffers.set(backend, state);
  }

  recorded(): void {
    this.#events.inc();
  }

  lost(plugin: string, events: number): void {
    this.#errors.inc({ plugin }, events);
  }

  decided(level: Level): void {
    this.#levels.inc({ level });
  }

  rejected(): void {
    this.#rejected.inc();
  }
}

/** One line for each part in this time: otherwise a full audit disk would fill the disk of the log. */
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
      err: errorText(error),
      auditIDs: records.slice(0, MAX_IDS).map(({ event }) => event.auditID),
    });
  };
}
