import type { AuditRecord } from './event.ts';

/** Whether everything was stored. Known at once where nothing has to be waited for. */
export type Stored = boolean | Promise<boolean>;

/** Takes records somewhere. What cannot be stored is reported and counted by whoever finds out. */
export interface AuditSink {
  /** Never throws and never rejects. */
  process(records: readonly AuditRecord[]): Stored;
  /** Stores what it still holds, and ends. */
  close(): Promise<void>;
}

/** Tells of records that are lost. `part` names the part of the back end that lost them, in metrics too. */
export type LossReport = (part: string, error: unknown, records: readonly AuditRecord[]) => void;

/** Every record goes to every sink, at the same time. */
export function unite(sinks: readonly AuditSink[]): AuditSink {
  return {
    process: (records) => all(sinks.map((sink) => sink.process(records))),
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** Waited for, but a failure fails no request. */
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
