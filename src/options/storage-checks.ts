import { posix } from 'node:path';
import { canonicalGroup } from '../api/dialect.ts';
import type { GroupResource } from '../api/names.ts';
import type { StoredMediaType } from '../storage/media-type-encoding.ts';
import { UsageError } from './flag.ts';

/** Checks the flags of storage. Messages are kube-apiserver's where it has one. */

const MEDIA_TYPES: Readonly<Record<string, StoredMediaType>> = {
  'application/json': 'application/json',
  'application/yaml': 'application/yaml',
  'application/vnd.cluster.protobuf': 'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf': 'application/vnd.kubernetes.protobuf',
};

/** kube-apiserver too takes the default for an empty value. */
export function storageMediaType(value: string, flag: string): StoredMediaType {
  const known = MEDIA_TYPES[value === '' ? 'application/json' : value];
  if (known !== undefined) return known;
  const allowed = Object.keys(MEDIA_TYPES).slice(0, 3).join(', ');
  throw new UsageError(`${flag}: ${JSON.stringify(value)} invalid, allowed values: ${allowed}`);
}

const BACKEND = 'kvstore3';

/** PostgreSQL is the only back end, and has the name that the flag gives the only one. */
export function storageBackend(value: string, flag: string): string {
  if (value === BACKEND || value === '') return BACKEND;
  throw new UsageError(
    `${flag} invalid, allowed values: ${BACKEND}. If not specified, it will default to '${BACKEND}'`,
  );
}

/** PostgreSQL and log readers would truncate longer ones. */
const MAX_PREFIX_CHARS = 200;

/** `/team-a`, however the slashes around it were written. */
export function storagePrefix(value: string, flag: string): string {
  const prefix = posix.join('/', value).replace(/\/+$/, '');
  if (prefix !== '' && prefix.length <= MAX_PREFIX_CHARS && /^[!-~]+$/.test(prefix)) return prefix;
  throw new UsageError(
    `${flag}: ${JSON.stringify(value)} must be a path of at most ${MAX_PREFIX_CHARS} plain characters, such as /registry or /team-a`,
  );
}

/**
 * Parses resources without a cache: `pods#0` and `leases.coordination.k8s.io#0`. Other sizes have no effect, because the cache
 * is as large as it needs to be.
 */
export function uncachedResources(values: readonly string[]): readonly GroupResource[] {
  const sizes = new Map(
    values.map((value) => {
      const [name = '', size, ...rest] = value.split('#');
      if (name === '' || size === undefined || rest.length > 0)
        throw new UsageError(`invalid value of watch cache size: ${value}`);
      if (!/^[+-]?\d+$/.test(size)) throw new UsageError(`invalid size of watch cache size: ${value}`);
      if (Number(size) < 0) throw new UsageError(`watch cache size cannot be negative: ${value}`);
      return [name, Number(size)] as const;
    }),
  );
  return [...sizes].filter(([, size]) => size === 0).map(([name]) => toGroupResource(name));
}

/** `pods`, `leases.coordination.k8s.io`; in either dialect. */
function toGroupResource(name: string): GroupResource {
  const dot = name.indexOf('.');
  if (dot < 0) return { group: '', resource: name };
  return { group: canonicalGroup(name.slice(dot + 1)).group, resource: name.slice(0, dot) };
}

/** Resources that are kept in another database. */
interface ServersOverride {
  readonly resources: readonly GroupResource[];
  /** The hosts of one database. */
  readonly urls: readonly string[];
}

/**
 * `/events#postgres://a/events;postgres://b/events`. Of several for one resource, the last one counts; resources with the same
 * servers share them.
 */
export function serversOverrides(
  values: readonly string[],
  flag: string,
  check: (urls: readonly string[], flag: string) => readonly string[],
): readonly ServersOverride[] {
  const serversOf = new Map(
    values.map((value) => {
      const [name = '', servers = '', ...rest] = value.split('#');
      const [group = '', resource = '', ...parts] = name.split('/');
      const urls = servers.split(';').filter((url) => url !== '');
      if (resource === '' || urls.length === 0 || rest.length > 0 || parts.length > 0) {
        throw new UsageError(
          `${flag} invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated`,
        );
      }
      check(urls, flag);
      return [`${canonicalGroup(group).group}/${resource}`, urls.join(';')] as const;
    }),
  );
  const byServers = Map.groupBy(serversOf, ([, servers]) => servers);
  return [...byServers].map(([servers, of]) => ({
    urls: servers.split(';'),
    resources: of.map(([name]) => {
      const slash = name.indexOf('/');
      return { group: name.slice(0, slash), resource: name.slice(slash + 1) };
    }),
  }));
}
