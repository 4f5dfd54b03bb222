import type { AuditRecord } from './event.ts';
import { isAtLeast } from './policy.ts';
import type { AuditSink, LossReport } from './sink.ts';

interface TruncationOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
  /** The version in which events are written and measured. */
  readonly apiVersion: string;
}

/** Removes the bodies of events that are too large, and drops events that still are. Placed before a buffer, to keep it small. */
export function truncateEvents(sink: AuditSink, options: TruncationOptions, report: LossReport): AuditSink {
  return {
    process: (records) => {
      const kept = records.map((record) => truncate(record, options));
      const lost = records.filter((_, at) => kept[at] === undefined);
      if (lost.length > 0) {
        report('truncate', new Error('event is too large even after truncating'), lost);
      }
      const rest = kept.filter((record) => record !== undefined);
      return rest.length === 0 ? true : sink.process(rest);
    },
    close: () => sink.close(),
  };
}

function truncate(
  record: AuditRecord,
  { maxEventBytes, apiVersion }: TruncationOptions,
): AuditRecord | undefined {
  if (sizeOf(record, apiVersion) <= maxEventBytes) return record;
  if (!isAtLeast(record.event.level, 'Request')) return undefined;
  const small = record.withoutBodies();
  return sizeOf(small, apiVersion) <= maxEventBytes ? small : undefined;
}

/** Splits batches that are too large. Placed behind the buffer that makes the batches. */
export function splitBatches(sink: AuditSink, options: TruncationOptions): AuditSink {
  return {
    process: async (records) => {
      const results: boolean[] = [];
      for (const batch of split(records, options)) results.push(await sink.process(batch));
      return !results.includes(false);
    },
    close: () => sink.close(),
  };
}

function split(
  records: readonly AuditRecord[],
  { maxBatchBytes, apiVersion }: TruncationOptions,
): AuditRecord[][] {
  const batches: AuditRecord[][] = [];
  let bytes = 0;
  for (const record of records) {
    const size = sizeOf(record, apiVersion);
    const last = batches.at(-1);
    if (last === undefined || bytes + size > maxBatchBytes) {
      batches.push([record]);
      bytes = size;
    } else {
      last.push(record);
      bytes += size;
    }
  }
  return batches;
}

const sizeOf = (record: AuditRecord, apiVersion: string): number =>
  Buffer.byteLength(record.toJson(apiVersion));
