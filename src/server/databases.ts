import { join, resolve } from 'node:path';
import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import type { Logger } from '../observability/logger.ts';
import { ownFlags, type StorageOptions, storageFlags } from '../options/storage.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import { toClusterSchema } from '../storage/postgres/connection/cluster-schema.ts';
import type { ConnectionOptions } from '../storage/postgres/connection/connection.ts';
import { parseTarget } from '../storage/postgres/connection/connection-target.ts';
import { openPostgres, type PostgresLog } from '../storage/postgres/postgres.ts';
import { errorText } from '../util/error-text.ts';
import { storageOf } from './built-in-names.ts';
import type { Egress } from './egress.ts';

/** Connections for replay, and as many to each read server. Other parts have pools of their own. */
const POOL_SIZE = 4;

/** One database, and which of several it is. */
export interface NumberedDatabase {
  /** `postgres-0` is the one of --kvstore-servers. */
  readonly id: string;
  readonly log: PostgresLog;
  /** The resources in this database; undefined: all that are in no other. */
  readonly resources: readonly GroupResource[] | undefined;
}

/** The databases of the cluster. */
export interface Databases {
  readonly main: NumberedDatabase;
  /** Those of --kvstore-servers-overrides. */
  readonly others: readonly NumberedDatabase[];
  /** Opens the database to which a resource was moved. @throws Error, one line, when a URL cannot be read */
  openMoved(resource: GroupResource, urls: readonly string[]): NumberedDatabase;
}

interface DatabaseParts {
  readonly urls: readonly string[];
  readonly logger: Logger;
  readonly encryption: EncryptionFile | undefined;
  readonly reroute: Egress['reroute'];
  /** --serving-threads */
  readonly threads: number;
}

/** The first query connects. @throws Error, one line, when a URL cannot be read or a resource is none */
export function openDatabases(
  options: StorageOptions,
  { urls, logger, encryption, reroute, threads }: DatabaseParts,
): Databases {
  for (const url of options.readUrls) assertReadable(url, ownFlags.readUrls.shown);
  const open = (
    servers: readonly string[],
    readUrls: readonly string[],
    { id, which }: { readonly id: string; readonly which: string },
  ): PostgresLog =>
    openPostgres({
      ...{ urls: servers, readUrls, poolSize: POOL_SIZE },
      ...connectionParts(options),
      ...(reroute === undefined ? {} : { reroute }),
      sharesLoads: threads > 1,
      compactionIntervalMs: options.compactionIntervalMs,
      sealer: createKeySealer(encryption?.encoding),
      witnessFile: join(resolve(options.dataDir), `history-${id}.json`),
      onTrouble: (message) => logger.warn(which, { message }),
    });
  const main = {
    id: 'postgres-0',
    log: open(urls, options.readUrls, { id: 'postgres-0', which: 'database' }),
    resources: undefined,
  };
  const others = overridesOf(options, urls).map((override, at) => {
    for (const url of override.urls) assertReadable(url, storageFlags.overrides.shown);
    const id = `postgres-${at + 1}`;
    return {
      id,
      log: open(override.urls, [], { id, which: `database ${id}` }),
      resources: override.resources,
    };
  });
  return {
    main,
    others,
    openMoved: (resource, servers) => {
      for (const url of servers) parseTarget(url);
      const id = `postgres-${resource.resource}`;
      return { id, log: open(servers, [], { id, which: `database ${id}` }), resources: [resource] };
    },
  };
}

/** Overrides whose database differs from the main one. @throws Error with a message of one line for an unknown resource */
export function overridesOf(
  { overrides }: StorageOptions,
  urls: readonly string[],
): StorageOptions['overrides'] {
  return overrides
    .filter((override) => override.urls.join(';') !== urls.join(';'))
    .map((override) => ({
      urls: override.urls,
      resources: override.resources.map((resource) => toStored(resource, storageFlags.overrides.shown)),
    }));
}

/** The storage of a built-in resource. @throws Error with a message of one line that names the flag */
export function toStored(resource: GroupResource, flag: string): GroupResource {
  const stored = storageOf(resource);
  if (stored !== undefined) return stored;
  throw new Error(
    `${flag}: there is no built-in resource ${JSON.stringify(toQualifiedResource(resource))}; one is such as pods, or leases of the group coordination.k8s.io`,
  );
}

/** Options of connections to all databases of the cluster. */
export const connectionParts = ({
  caFile,
  certFile,
  keyFile,
  prefix,
}: StorageOptions): Omit<ConnectionOptions, 'urls' | 'poolSize'> => ({
  schema: toClusterSchema(prefix),
  ...(caFile === '' ? {} : { caFile }),
  ...(certFile === '' ? {} : { certFile }),
  ...(keyFile === '' ? {} : { keyFile }),
});

function assertReadable(url: string, flag: string): void {
  try {
    parseTarget(url);
  } catch (error) {
    throw new Error(`${flag}: ${errorText(error)}`);
  }
}
