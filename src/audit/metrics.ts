import { Counter, type Registry } from 'prom-client';
import type { Level } from './policy/policy.ts';

/** Names are those of Kubernetes (apiserver, audit/metrics.go). */
export class AuditMetrics {
  readonly #events: Counter;
  readonly #errors: Counter<'plugin'>;
  readonly #levels: Counter<'level'>;
  readonly #rejected: Counter;

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
