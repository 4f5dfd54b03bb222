import type { AuditRecord } from '../event.ts';
import { formatLegacy } from '../legacy-line.ts';
import type { AuditSink, LossReport } from '../sink.ts';
import type { LineWriter } from './line-writer.ts';

export interface LogOptions {
  readonly format: 'legacy' | 'json';
  readonly apiVersion: string;
  readonly report: LossReport;
}

/** The log back end: a line an event. */
export class LogSink implements AuditSink {
  readonly #writer: LineWriter;
  readonly #options: LogOptions;

  constructor(writer: LineWriter, options: LogOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  async process(records: readonly AuditRecord[]): Promise<boolean> {
    try {
      await this.#writer.write(records.map((record) => `${this.#toLine(record)}\n`).join(''));
      return true;
    } catch (error) {
      this.#options.report('log', error, records);
      return false;
    }
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #toLine(record: AuditRecord): string {
    const { format, apiVersion } = this.#options;
    return format === 'json' ? record.toJson(apiVersion) : formatLegacy(record.event);
  }
}
