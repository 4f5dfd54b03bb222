import type { StorageOptions } from '../options/storage.ts';
import { toClusterSchema } from '../storage/postgres/cluster-schema.ts';
import type { ConnectionOptions } from '../storage/postgres/connection.ts';
import type { KeptWindow, WindowWish } from '../storage/postgres/history-window.ts';

/** How commands other than serving reach the database. */
export function databaseConnection(
  { caFile, certFile, keyFile, prefix }: StorageOptions,
  urls: readonly string[],
): ConnectionOptions {
  return {
    urls,
    poolSize: 2,
    schema: toClusterSchema(prefix),
    ...(caFile === '' ? {} : { caFile }),
    ...(certFile === '' ? {} : { certFile }),
    ...(keyFile === '' ? {} : { keyFile }),
  };
}

export const windowWish = ({ historyWindowMs, setsHistoryWindow }: StorageOptions): WindowWish => ({
  windowMs: historyWindowMs,
  isGiven: setsHistoryWindow,
});

export function describeWindow({ windowMs, before }: KeptWindow): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const change = before === undefined || before === 'unset' ? '' : ` instead of ${seconds(before)}`;
  return `history is kept for ${seconds(windowMs)}${change}`;
}
