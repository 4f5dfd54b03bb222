import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../options/flag.ts';
import { ownFlags, type StorageOptions, storageFlags } from '../options/storage.ts';
import { connectionParts } from '../server/databases.ts';
import type { ConnectionOptions } from '../storage/postgres/connection/connection.ts';
import type { KeptWindow, WindowWish } from '../storage/postgres/upkeep/history-window.ts';

/** The database connection of commands other than serving. */
export const databaseConnection = (
  options: StorageOptions,
  urls: readonly string[],
  reroute?: ConnectionOptions['reroute'],
): ConnectionOptions => ({
  ...{ urls, poolSize: 2 },
  ...connectionParts(options),
  ...(reroute === undefined ? {} : { reroute }),
});

export const windowWish = ({ historyWindow, setsHistoryWindow }: StorageOptions): WindowWish => ({
  ...historyWindow,
  isGiven: setsHistoryWindow,
});

export function describeWindow({ windowMs, before }: KeptWindow): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const change = before === undefined || before === 'unset' ? '' : ` instead of ${seconds(before)}`;
  return `history is kept for ${seconds(windowMs)}${change}`;
}

/** The embedded PostgreSQL can be reached only while its server runs. */
export function databaseOf({ databaseUrls, dataDir }: StorageOptions): readonly string[] {
  if (databaseUrls.length > 0) return databaseUrls;
  const path = join(dataDir, 'postgres.url');
  if (existsSync(path)) return [readFileSync(path, 'utf8').trim()];
  throw new UsageError(
    `this needs ${storageFlags.databaseUrls.shown}=postgres://…, or ${ownFlags.dataDir.shown} with an embedded PostgreSQL that runs (there is no ${path})`,
  );
}

export const OLD_DATABASE = 'the database is older than this program: migrate it first';
/** undefined_table, undefined_function */
export const isOld = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '42883');
