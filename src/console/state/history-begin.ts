import { signal } from '@preact/signals';
import { ApiError, askJson } from '../api/ask.ts';
import { clusterBegin } from './catalog.ts';

/** Where history begins, in ms since 1970. Undefined: unknown. */
export const historyBegin = signal<number | undefined>(undefined);

/**
 * Asks for a state of 1970, whose error has the begin: `asOf: history is kept from revision 7 (2026-01-31T12:00:00.000Z)`.
 * Without compaction there is an answer, and history is as old as the oldest namespace.
 */
export async function askHowFarBack(path: string): Promise<void> {
  try {
    await askJson(path, { query: { asOf: '1970-01-01T00:00:00Z', limit: '1' } });
    if (clusterBegin.value !== undefined) historyBegin.value = clusterBegin.value;
  } catch (error) {
    noteBegin(error);
  }
}

export function noteBegin(error: unknown): void {
  const at = beginOf(error);
  if (at !== undefined) historyBegin.value = at;
}

/** The begin of history in the error, in ms since 1970. */
export function beginOf(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 410) return undefined;
  const at = Date.parse(/history is kept from revision \d+ \(([^)]+)\)/.exec(error.message)?.[1] ?? '');
  return Number.isNaN(at) ? undefined : at;
}
