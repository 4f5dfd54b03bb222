import { createHash } from 'node:crypto';
import { type Dialect, dialectGroup } from '../api/dialect.ts';
import { toApiVersion } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { ServedGroup, ServedResource } from '../registry/registry.ts';
import type { DefinedVerb, ResourceDefinition, Subresource } from '../registry/resource-definition.ts';

/** The plain discovery documents: APIVersions, APIGroupList, APIGroup, APIResourceList. */

/** A group as it is listed: once for each dialect that has a name for it. */
export interface ListedGroup {
  /** Canonical. */
  readonly group: string;
  readonly dialect: Dialect;
  /** As written in the dialect. */
  readonly name: string;
  readonly versions: readonly string[];
  /**
   * Whether this is the first name of the group. Short names and categories are listed only under the first: kubectl warns about
   * a short name in two groups, and would show the resources of a category twice.
   */
  readonly primary: boolean;
}

/** Lists all groups but the core one. The first dialect comes first, so clients that take the first match show its names. */
export function listGroups(all: readonly ServedGroup[], dialects: readonly Dialect[]): ListedGroup[] {
  const groups = all.filter(({ group }) => group !== '');
  const listed = new Map<string, ListedGroup>();
  const seen = new Set<string>();
  for (const dialect of dialects) {
    for (const { group, versions } of groups) {
      const name = dialectGroup(group, dialect);
      if (listed.has(name)) continue;
      listed.set(name, { group, dialect, name, versions, primary: !seen.has(group) });
      seen.add(group);
    }
  }
  return [...listed.values()];
}

export function toApiVersions(versions: string[], serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions,
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

export function toGroupList(groups: readonly ListedGroup[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupFields) };
}

export function toGroup(group: ListedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(group) };
}

function groupFields({ name, versions }: ListedGroup): JsonObject {
  const listed = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] ?? {} };
}

export function toResourceList(
  groupVersion: string,
  resources: readonly ServedResource[],
  { dialect, primary, hashes }: Pick<ListedGroup, 'dialect' | 'primary'> & { readonly hashes: boolean },
): JsonObject {
  return {
    kind: 'APIResourceList',
    // The list of the core group has none, as old clients expect.
    ...(groupVersion.includes('/') ? { apiVersion: 'v1' } : {}),
    groupVersion,
    resources: resources.flatMap((served) => [
      { ...toResource(served, primary), ...(hashes ? storageVersionHash(served.definition) : {}) },
      ...subresourcesOf(served.definition).map((subresource) => toSubresource(served, subresource, dialect)),
    ]),
  };
}

/** In the order of Kubernetes: by name, but the status of a custom resource before its scale. */
export const subresourcesOf = ({ subresources, custom }: ResourceDefinition): readonly Subresource[] =>
  custom === undefined ? [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1)) : subresources;

function toResource({ definition }: ServedResource, primary: boolean): JsonObject {
  const { resource, singular, namespaced, kind } = definition;
  const verbs = verbsOf(definition);
  return {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(primary ? nicknamesOf(definition) : {}),
  };
}

/** While a definition ends, its objects are only read and deleted. */
export function verbsOf({ verbs, custom }: ResourceDefinition): DefinedVerb[] {
  return custom?.isEnding === true ? verbs.filter((verb) => !WRITES.has(verb)) : [...verbs];
}

const WRITES: ReadonlySet<DefinedVerb> = new Set(['create', 'patch', 'update']);

export function nicknamesOf({ shortNames, categories }: ServedResource['definition']): JsonObject {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}

function toSubresource(
  { definition }: ServedResource,
  subresource: Subresource,
  dialect: Dialect,
): JsonObject {
  const { served } = subresource;
  const own = served.group === definition.group;
  return {
    name: `${definition.resource}/${subresource.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(own ? {} : { group: dialectGroup(served.group, dialect), version: served.version }),
    kind: served.kind,
    verbs: [...subresource.verbs],
  };
}

/** Lets clients notice that the stored version changed (Kubernetes: discovery.StorageVersionHash). */
function storageVersionHash({ storage, kind, verbs, custom }: ResourceDefinition): JsonObject {
  const version = custom === undefined ? storage.version : custom.storedVersion;
  // The states of components are not stored, and cannot be created.
  if (version === '' || !verbs.includes('list') || !verbs.includes('create')) return {};
  const digest = createHash('sha256').update(`${storage.group}/${version}/${kind}`).digest();
  return { storageVersionHash: digest.subarray(0, 8).toString('base64') };
}

export const groupVersionOf = (name: string, version: string): string =>
  toApiVersion({ group: name, version });
