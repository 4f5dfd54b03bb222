import { type GroupResource, type GroupVersion, toResourceKey } from '../api/names.ts';
import type { ResourceDefinition, ServedVersion } from './resource-definition.ts';

/** A definition as served under one version. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

/** An API group with its versions in order of preference, as discovery lists it. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

/** A change of the registry: everything derived from these groups is outdated. */
interface RegistryChange {
  readonly groups: ReadonlySet<string>;
}

type Versions = ReadonlyMap<string, Map<string, ServedResource>>;

const NOTHING: Versions = new Map();

/**
 * The resources that this server serves. Built-in ones are added when it starts; those of definitions come and go, and a
 * request keeps those that it found. Lookups are by canonical group.
 */
export class Registry {
  /** The versions of a group, in order of preference, with their resources. */
  readonly #groups = new Map<string, Versions>();
  /** In the order they were added. */
  readonly #builtIn = new Set<string>();
  readonly #byStorage = new Map<string, ResourceDefinition>();
  /** Definitions by the name under which they were put. */
  readonly #put = new Map<string, readonly ResourceDefinition[]>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();
  #generation = 0;

  /** Increases with every change. */
  get generation(): number {
    return this.#generation;
  }

  /** `enabled` decides which versions are served (--runtime-config). */
  add(
    definition: ResourceDefinition,
    enabled: (version: GroupVersion, served: ServedVersion) => boolean,
  ): void {
    const { group, versions } = definition;
    const served = versions.filter((one) => enabled({ group, version: one.version }, one));
    this.#serve(definition, served);
    if (served.length > 0) this.#builtIn.add(group);
    this.#changed([group]);
  }

  /**
   * Serves these definitions, the versions of one resource, in place of those under the same name. A path that another resource
   * has stays with it. Built-in groups serve none of them: all paths of such a group lead to its own resources (Kubernetes:
   * apiserver, server/handler.go).
   */
  put(name: string, all: readonly ResourceDefinition[]): void {
    const definitions = all.filter(({ group }) => !this.#builtIn.has(group));
    const before = this.#put.get(name) ?? [];
    for (const definition of before) this.#withdraw(definition);
    this.#put.set(name, definitions);
    for (const definition of definitions) this.#serve(definition, definition.versions);
    this.#changed([...before, ...definitions].map(({ group }) => group));
  }

  /** Removes the definitions under the name. */
  remove(name: string): void {
    const before = this.#put.get(name);
    if (before === undefined) return;
    this.#put.delete(name);
    for (const definition of before) this.#withdraw(definition);
    this.#changed(before.map(({ group }) => group));
  }

  /** Reports that discovery must list the definitions anew; they are otherwise unchanged. */
  relist(name: string): void {
    this.#changed((this.#put.get(name) ?? []).map(({ group }) => group));
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#groups.get(group)?.get(version)?.get(resource);
  }

  /** The definition that owns a storage, for the watch cache and the garbage collector. */
  findStorage(resource: GroupResource): ResourceDefinition | undefined {
    return this.#byStorage.get(toResourceKey(resource));
  }

  /** Definitions that own a storage, each once. */
  storages(): Iterable<ResourceDefinition> {
    return this.#byStorage.values();
  }

  /** Built-in groups in the order of their addition, then others by name. */
  groups(): ServedGroup[] {
    const others = [...this.#groups.keys()].filter((group) => !this.#builtIn.has(group)).sort();
    return [...this.#builtIn, ...others].map((group) => ({ group, versions: this.versions(group) }));
  }

  /** The versions of a group in order of preference; none for an unserved group. */
  versions(group: string): string[] {
    return [...(this.#groups.get(group) ?? NOTHING).keys()];
  }

  /** Whether the group has, or had at the start, built-in resources. */
  isBuiltIn(group: string): boolean {
    return this.#builtIn.has(group);
  }

  /** The resources of one group version, sorted by name. */
  resources(group: string, version: string): ServedResource[] {
    const found = [...(this.#groups.get(group)?.get(version)?.values() ?? [])];
    return found.sort((a, b) => (a.definition.resource < b.definition.resource ? -1 : 1));
  }

  /** Calls back after each change, to renew derived data such as discovery and OpenAPI. Returns a function to unsubscribe. */
  onChange(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #serve(definition: ResourceDefinition, versions: readonly ServedVersion[]): void {
    const { group, resource, storage } = definition;
    for (const version of versions) {
      const resources = this.#resourcesOf(group, version.version);
      if (!resources.has(resource)) resources.set(resource, { definition, version });
    }
    const key = toResourceKey(storage);
    const isOwner = storage.group === group && storage.resource === resource;
    if (isOwner && !this.#byStorage.has(key)) this.#byStorage.set(key, definition);
  }

  #resourcesOf(group: string, version: string): Map<string, ServedResource> {
    const versions = this.#groups.get(group) ?? NOTHING;
    const known = versions.get(version);
    if (known !== undefined) return known;
    const resources = new Map<string, ServedResource>();
    const all = [...versions, [version, resources] as const];
    this.#groups.set(group, new Map(all.sort(([a], [b]) => compareVersions(a, b))));
    return resources;
  }

  #withdraw(definition: ResourceDefinition): void {
    const { group, resource, storage } = definition;
    const versions = new Map(this.#groups.get(group));
    for (const { version } of definition.versions) {
      const resources = versions.get(version);
      if (resources?.get(resource)?.definition === definition) resources.delete(resource);
      if (resources?.size === 0) versions.delete(version);
    }
    if (versions.size > 0 || this.#builtIn.has(group)) this.#groups.set(group, versions);
    else this.#groups.delete(group);
    const key = toResourceKey(storage);
    if (this.#byStorage.get(key) === definition) this.#byStorage.delete(key);
  }

  #changed(groups: readonly string[]): void {
    this.#generation += 1;
    const change = { groups: new Set(groups) };
    for (const listener of this.#listeners) listener(change);
  }
}

/**
 * Kubernetes' order of preference: GA before beta before alpha, then the higher number first; anything else last, by name.
 * Example: v2, v1, v2beta1, v1beta2, v1alpha1, foo.
 */
export function compareVersions(a: string, b: string): number {
  const left = rankVersion(a);
  const right = rankVersion(b);
  for (const [at, rank] of left.entries()) {
    const difference = (right[at] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function rankVersion(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  const [, major, stage, minor] = match;
  const maturity = stage === undefined ? 3 : stage === 'beta' ? 2 : 1;
  return [maturity, Number(major), Number(minor ?? 0)];
}
