import type { AuditRecord } from './event.ts';

/** Whether everything was stored. No promise where nothing is awaited. */
export type Stored = boolean | Promise<boolean>;

/** Stores records. The sink that fails to store a record reports and counts the loss. */
export interface AuditSink {
  /** Never throws and never rejects. */
  process(records: readonly AuditRecord[]): Stored;
  /** Stores the remaining records, and ends. */
  close(): Promise<void>;
}

/** Reports lost records. `part` names the part of the back end that lost them, also in metrics. */
export type LossReport = (part: string, error: unknown, records: readonly AuditRecord[]) => void;

/** Passes every record to all sinks at the same time. */
export function unite(sinks: readonly AuditSink[]): AuditSink {
  return {
    process: (records) => all(sinks.map((sink) => sink.process(records))),
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** Waits for the sink, but its failures fail no request. */
export function ignoreFailures(sink: AuditSink): AuditSink {
  return {
    process: async (records) => {
      await sink.process(records);
      return true;
    },
    close: () => sink.close(),
  };
}

function all(results: readonly Stored[]): Stored {
  if (results.every((result) => typeof result === 'boolean')) return !results.includes(false);
  return Promise.all(results).then((known) => !known.includes(false));
}
