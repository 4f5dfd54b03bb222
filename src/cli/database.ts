import type { ServerOptions } from '../options/options.ts';
import type { ConnectionOptions } from '../storage/postgres/connection.ts';
import type { KeptWindow, WindowWish } from '../storage/postgres/history-window.ts';

/** How commands other than serving reach the database. */
export function databaseConnection(options: ServerOptions, urls: readonly string[]): ConnectionOptions {
  return {
    urls,
    poolSize: 2,
    ...(options.databaseCaFile === '' ? {} : { caFile: options.databaseCaFile }),
    ...(options.databaseCertFile === '' ? {} : { certFile: options.databaseCertFile }),
    ...(options.databaseKeyFile === '' ? {} : { keyFile: options.databaseKeyFile }),
  };
}

export const windowWish = ({ historyWindowMs, setsHistoryWindow }: ServerOptions): WindowWish => ({
  windowMs: historyWindowMs,
  isGiven: setsHistoryWindow,
});

export function describeWindow({ windowMs, before }: KeptWindow): string {
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const change = before === undefined || before === 'unset' ? '' : ` instead of ${seconds(before)}`;
  return `history is kept for ${seconds(windowMs)}${change}`;
}
