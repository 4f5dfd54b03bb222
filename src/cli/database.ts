import type { ServerOptions } from '../options/options.ts';
import type { ConnectionOptions } from '../storage/postgres/connection.ts';

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
