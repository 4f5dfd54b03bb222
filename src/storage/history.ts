import type { Revision } from './revision.ts';

/** Questions about when the log was where. Answers are about the history that is kept. */
export interface History {
  /** The newest revision that was there at a moment (RFC 3339); undefined when the history that is kept begins later. */
  revisionAt(moment: string): Promise<Revision | undefined>;
  /** Where it begins. */
  begin(): Promise<HistoryBegin>;
}

export interface HistoryBegin {
  readonly revision: Revision;
  /** When that was the newest one; undefined: before anybody wrote. */
  readonly at: Date | undefined;
}
