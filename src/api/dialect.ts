/**
 * Two names for one thing. Clients of the ecosystem write `rbac.authorization.k8s.io`, the specification of this server writes
 * `rbac.authorization.cluster.io`; both are served on the same objects. Inside there is one canonical group, the `.k8s.io` one.
 * This file has the whole rule; requests and responses apply it.
 *
 *   canonicalGroup('storage.cluster.io')        → { group: 'storage.k8s.io', dialect: 'cluster.io' }
 *   canonicalGroup('apps')                      → { group: 'apps', dialect: undefined }      the same in both
 *   canonicalGroup('mine.cluster.io')           → { group: 'mine.cluster.io', dialect: undefined }   not ours to rename
 *   dialectGroup('storage.k8s.io', 'cluster.io') → 'storage.cluster.io'
 */

export type Dialect = 'k8s.io' | 'cluster.io';

const DIALECTS: readonly Dialect[] = ['cluster.io', 'k8s.io'];

/** Groups of this server that have a domain, without it. */
const DOMAIN_GROUPS: ReadonlySet<string> = new Set([
  'admission',
  'admissionregistration',
  'apidiscovery',
  'apiextensions',
  'apiregistration',
  'audit',
  'authentication',
  'authorization',
  'certificates',
  'coordination',
  'discovery',
  'events',
  'flowcontrol.apiserver',
  'internal.apiserver',
  'meta',
  'networking',
  'node',
  'rbac.authorization',
  'resource',
  'scheduling',
  'storage',
  'storagemigration',
]);

const CANONICAL: Dialect = 'k8s.io';

function splitDomain(group: string): { stem: string; dialect: Dialect } | undefined {
  for (const dialect of DIALECTS) {
    if (!group.endsWith(`.${dialect}`)) continue;
    const stem = group.slice(0, -dialect.length - 1);
    return DOMAIN_GROUPS.has(stem) ? { stem, dialect } : undefined;
  }
  return undefined;
}

/** The group as it is stored, cached and authorized, and the dialect it was written in (undefined: the same in both). */
export function canonicalGroup(group: string): {
  group: string;
  dialect: Dialect | undefined;
} {
  const split = splitDomain(group);
  if (split === undefined) return { group, dialect: undefined };
  return { group: `${split.stem}.${CANONICAL}`, dialect: split.dialect };
}

/** The name of a canonical group in a dialect. */
export function dialectGroup(group: string, dialect: Dialect): string {
  const split = splitDomain(group);
  return split === undefined ? group : `${split.stem}.${dialect}`;
}

/** {@link canonicalGroup} for an apiVersion such as `storage.cluster.io/v1`. */
export function canonicalApiVersion(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? apiVersion : canonicalGroup(apiVersion.slice(0, slash)).group + apiVersion.slice(slash);
}

/** {@link dialectGroup} for an apiVersion such as `storage.k8s.io/v1`. */
export function dialectApiVersion(apiVersion: string, dialect: Dialect): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? apiVersion : dialectGroup(apiVersion.slice(0, slash), dialect) + apiVersion.slice(slash);
}
