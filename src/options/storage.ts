import { notNegative } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { bool, duration, list, text, UsageError } from './flag.ts';
import { DEFAULT_WINDOW, parseHistoryWindow } from './history-window.ts';
import {
  serversOverrides,
  storageBackend,
  storageMediaType,
  storagePrefix,
  uncachedResources,
} from './storage-checks.ts';

/** Flags that only this server has. */
export const ownFlags = {
  readUrls: list('kvstore-read-servers', {
    default: [],
    meaning:
      'standbys of --kvstore-servers, as postgres:// URLs, comma separated: history, old lists and cold starts are read from them, in turns, wherever they have all that is wanted; the primary serves what they do not',
    check: databaseUrls,
  }),
  dataDir: text('data-dir', {
    default: '.pg-apiserver',
    meaning:
      'folder for certificates, the admin kubeconfig and, without --kvstore-servers, the embedded PostgreSQL',
  }),
  historyWindow: list('history-window', {
    default: DEFAULT_WINDOW,
    meaning:
      'how far back history is kept: how old a watch may start, and what SQL can look back on; days or months are fine; resource=duration or resource.group=duration shortens it for a resource, comma separated, and leases and events have 1h unless they are named; kept in the database for all servers, and left as it is there by one that is started without it',
    check: parseHistoryWindow,
  }),
  customResourceViews: bool('custom-resource-views', {
    default: false,
    meaning:
      'a view in SQL for each custom resource, with its printer columns: SELECT * FROM crd.widgets; made and dropped with its definition',
  }),
};

export const storageFlags = {
  storageBackend: text('storage-backend', {
    default: 'kvstore3',
    meaning: 'persistence back end; kvstore3 is the only one, and is PostgreSQL',
    check: storageBackend,
  }),
  mediaType: text('storage-media-type', {
    default: 'application/json',
    meaning:
      'media type of stored objects; allowed application/json, application/yaml, application/vnd.cluster.protobuf; some resources ignore it: custom resources are JSON always; SQL shows JSON and YAML, and of protobuf its size; what was stored in another one is read all the same',
    check: storageMediaType,
  }),
  initializationTimeoutMs: duration('storage-initialization-timeout', {
    default: '1m0s',
    meaning:
      'longest wait for storage before declaring the server ready: so long the database may take to answer, and to give the objects that are kept in memory; then the start ends with an error; 0, and a server that is not given the flag, wait without end',
    check: notNegative,
  }),
  databaseUrls: list('kvstore-servers', {
    default: [],
    meaning: 'servers as scheme://ip:port, comma separated',
    check: databaseUrls,
  }),
  overrides: list('kvstore-servers-overrides', {
    default: [],
    meaning:
      'per-resource servers, form group/resource#servers with servers separated by semicolons, such as /events#postgres://host/events; built-in resources only; such a database has revisions, watches and a history of its own',
    check: (values, flag) => serversOverrides(values, flag, databaseUrls),
  }),
  caFile: text('kvstore-cafile', { default: '', meaning: 'TLS files for storage communication' }),
  certFile: text('kvstore-certfile', { default: '', meaning: 'TLS files for storage communication' }),
  keyFile: text('kvstore-keyfile', { default: '', meaning: 'TLS files for storage communication' }),
  prefix: text('kvstore-prefix', {
    default: '/registry',
    meaning:
      'prefix of all resource paths in storage: each is a cluster of its own, and /team_a is kept in the schema cluster_team_a of the database; /registry is in the schema that the user finds there, mostly public; it is a boundary between roles only where they lack REPLICATION, which reads all databases of that PostgreSQL: a server without it polls for changes',
    check: storagePrefix,
  }),
  compactionIntervalMs: duration('kvstore-compaction-interval', {
    default: '5m0s',
    meaning: 'compaction request interval; 0 disables',
  }),
  countPollMs: duration('kvstore-count-metric-poll-period', {
    default: '1m0s',
    meaning: 'polling period of per-type counts; 0 disables',
  }),
  sizePollMs: duration('kvstore-db-metric-poll-interval', {
    default: '30s',
    meaning: 'polling interval of the size metric; 0 disables',
  }),
  healthTimeoutMs: duration('kvstore-healthcheck-timeout', {
    default: '2s',
    meaning: 'timeout for health checks',
  }),
  readyTimeoutMs: duration('kvstore-readycheck-timeout', {
    default: '2s',
    meaning: 'timeout for readiness checks',
  }),
  eventTtlMs: duration('event-ttl', { default: '1h0m0s', meaning: 'how long events are retained' }),
  watchCache: bool('watch-cache', {
    default: true,
    meaning:
      'watch cache on; without it clients read from PostgreSQL, and in memory is only what the server itself asks at each request: namespaces, service accounts, definitions, policies, roles, classes, limits and quotas',
  }),
  uncached: list('watch-cache-sizes', {
    default: [],
    meaning:
      'form resource[.group]#size; only 0 is meaningful and turns caching off for that resource, as --watch-cache=false does for all; non-zero values all mean on; only for built-in resources',
    check: uncachedResources,
  }),
  encryptionProviderConfig: text('encryption-provider-config', {
    default: '',
    meaning:
      "file with encryption providers for storing secrets: an EncryptionConfiguration, for whichever resources it names; those of secrets encrypt the cluster's own keys in the database too (the certificate authority, token signing)",
  }),
  encryptionProviderConfigAutomaticReload: bool('encryption-provider-config-automatic-reload', {
    default: false,
    meaning:
      'reload that file on change; when true, the health endpoints have one check for all KMS plugins, instead of one for each',
  }),
};

/** The server's databases, and how long they keep history. */
export type StorageOptions = ReturnType<typeof readStorage>;

/** @throws UsageError */
export function readStorage(line: CommandLine) {
  const own = line.valuesOf(ownFlags);
  const storage = line.valuesOf(storageFlags);
  if (own.readUrls.length > 0 && storage.databaseUrls.length === 0) {
    const { readUrls } = ownFlags;
    throw new UsageError(
      `${readUrls.shown} needs ${storageFlags.databaseUrls.shown}, whose standbys it names`,
    );
  }
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reload } = storageFlags;
  if (storage.encryptionProviderConfigAutomaticReload && storage.encryptionProviderConfig === '')
    throw new UsageError(`${reload.shown} must be set with ${file.shown}, which it reloads`);
  return Object.freeze({
    ...own,
    ...storage,
    /** 0: as long as it takes. A database that fails over, or gives millions of objects, is no reason to end. */
    initializationTimeoutMs: line.isGiven(storageFlags.initializationTimeoutMs)
      ? storage.initializationTimeoutMs
      : 0,
    /** False: the window in the database stays as it is. */
    setsHistoryWindow: line.isGiven(ownFlags.historyWindow),
  });
}

/** Checks URLs of databases. Empty: the embedded PostgreSQL. @throws UsageError */
export function databaseUrls(urls: readonly string[], flag: string): readonly string[] {
  const wrong = urls.find((url) => !/^postgres(ql)?:\/\//.test(url));
  if (wrong === undefined) return urls;
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(wrong)?.[0];
  // Without a scheme it may be the rest of a password, which must not be shown.
  const which = scheme === undefined ? 'one of the URLs' : JSON.stringify(`${scheme}…`);
  throw new UsageError(`${flag}: ${which} must begin with postgres://; a comma inside a URL is written %2C`);
}
