import type { TypeLibrary } from '../api/idl/types.ts';
import type { AuditMetrics } from './metrics.ts';
import { findRule, type Policy } from './policy.ts';
import { type ReceivedRequest, type RecordingContext, RequestAudit } from './request-audit.ts';
import type { AuditSink, LossReport } from './sink.ts';

interface AuditorOptions {
  readonly policy: Policy;
  readonly sink: AuditSink;
  readonly types: TypeLibrary;
  readonly metrics: AuditMetrics;
  readonly report: LossReport;
  readonly now: () => Date;
}

/** Decides whether and how much of a request is recorded, and passes its events to the back ends. */
export class Auditor {
  readonly #policy: Policy;
  readonly #metrics: AuditMetrics;
  readonly #context: RecordingContext;

  constructor({ policy, metrics, ...context }: AuditorOptions) {
    this.#policy = policy;
    this.#metrics = metrics;
    this.#context = { ...context, onEvent: () => metrics.recorded() };
  }

  /** Undefined for a request that is not recorded. A request without a user is one that failed authentication. */
  begin(request: ReceivedRequest): RequestAudit | undefined {
    const rule = findRule(this.#policy, request);
    this.#metrics.decided(rule?.level ?? 'None');
    if (rule === undefined || rule.level === 'None') return undefined;
    return new RequestAudit(this.#context, rule, request);
  }

  /** Counts a request that was refused because it could not be recorded. */
  rejected(): void {
    this.#metrics.rejected();
  }

  /** Stores the remaining records. */
  close(): Promise<void> {
    return this.#context.sink.close();
  }
}
