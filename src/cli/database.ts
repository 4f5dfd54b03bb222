import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupResource } from '../api/names.ts';
import { UsageError } from '../options/flag.ts';
import { ownFlags, type StorageOptions, storageFlags } from '../options/storage.ts';
import { connectionParts, overridesOf } from '../server/databases.ts';
import { openEncryption } from '../server/encryption.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import type { ConnectionOptions } from '../storage/postgres/connection/connection.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
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

/**
 *     formatWindow(86_400_000) → '1 day'
 *     formatWindow(5_400_000) → '90 minutes'
 */
function formatWindow(ms: number): string {
  for (const [unit, unitMs] of WINDOW_UNITS)
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs} ${unit}${ms === unitMs ? '' : 's'}`;
  return `${ms / 1000} s`;
}

const WINDOW_UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `history is kept for 1 day, of events for 1 hour` */
export function describeWindow({ windowMs, before, shorter = new Map() }: KeptWindow): string {
  const change = before === undefined || before === 'unset' ? '' : ` instead of ${formatWindow(before)}`;
  const others = [...shorter].map(([resource, ms]) => `, of ${resource} for ${formatWindow(ms)}`).sort();
  return `history is kept for ${formatWindow(windowMs)}${change}${others.join('')}`;
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

/** The administrator's kubeconfig, where a server has written it. `flag` names another one. @throws UsageError */
export function kubeconfigOf({ dataDir }: Pick<StorageOptions, 'dataDir'>, flag: string): string {
  const path = join(dataDir, 'admin.kubeconfig');
  if (existsSync(path)) return path;
  throw new UsageError(
    `this needs ${flag}=, or ${ownFlags.dataDir.shown} of a server that was started (there is no ${path})`,
  );
}

/** A database of the cluster beside the first, and the resources in it. */
interface OtherDatabase {
  readonly resources: readonly GroupResource[];
  readonly urls: readonly string[];
}

/**
 * The databases beside the first: those that --kvstore-servers-overrides names, and those to which resources were moved.
 * @throws Error when the first cannot be asked
 */
export async function otherDatabases(
  options: StorageOptions,
  main: readonly string[],
): Promise<readonly OtherDatabase[]> {
  const named = overridesOf(options, main);
  const encryption = openEncryption(options);
  try {
    await encryption?.ask();
    const sealer = createKeySealer(encryption?.encoding);
    const connection = databaseConnection(options, main);
    const moved = await setUpDatabase(connection, (database) => database.listMoved(), sealer);
    const isNamed = ({ group, resource }: GroupResource): boolean =>
      named.some(({ resources }) =>
        resources.some((one) => one.group === group && one.resource === resource),
      );
    const others = moved.filter(({ resource }) => !isNamed(resource));
    return [...named, ...others.map(({ resource, urls }) => ({ resources: [resource], urls }))];
  } finally {
    encryption?.close();
  }
}

export const OLD_DATABASE =
  'the database has no schema, or that of an earlier version: run pg-apiserver migrate first';
/** undefined_table, undefined_function */
export const isOld = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '42883');
