import type { GroupResource, GroupVersion } from '../api/names.ts';
import type { ResourceDefinition, ServedVersion } from './definition.ts';

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

/** The resources this server serves. Lookups are by canonical group. */
export class Registry {
  readonly #byPath = new Map<string, ServedResource>();
  readonly #byStorage = new Map<string, ResourceDefinition>();
  readonly #groups: string[] = [];
  readonly #versions = new Map<string, string[]>();
  readonly #listeners = new Set<() => void>();

  /** Versions are served in the order given; `enabled` decides which of them (--runtime-config). */
  add(
    definition: ResourceDefinition,
    enabled: (version: GroupVersion, served: ServedVersion) => boolean,
  ): void {
    for (const version of definition.versions) {
      const groupVersion = {
        group: definition.group,
        version: version.version,
      };
      if (enabled(groupVersion, version)) this.#serve(definition, version);
    }
    const { storage } = definition;
    if (storage.group === definition.group && storage.resource === definition.resource) {
      this.#byStorage.set(`${storage.group}/${storage.resource}`, definition);
    }
    this.#changed();
  }

  find(group: string, version: string, resource: string): ServedResource | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`);
  }

  /** The definition that owns a storage; what the watch cache and the garbage collector ask for. */
  findStorage({ group, resource }: GroupResource): ResourceDefinition | undefined {
    return this.#byStorage.get(`${group}/${resource}`);
  }

  /** Definitions that own a storage, each once. */
  storages(): Iterable<ResourceDefinition> {
    return this.#byStorage.values();
  }

  /** In the order they were added. */
  groups(): ServedGroup[] {
    return this.#groups.map((group) => ({
      group,
      versions: this.#versions.get(group) ?? [],
    }));
  }

  /** The resources of one group version, sorted by name. */
  resources(group: string, version: string): ServedResource[] {
    const prefix = `${group}/${version}/`;
    const found = [...this.#byPath].filter(([path]) => path.startsWith(prefix)).map(([, served]) => served);
    return found.sort((a, b) => (a.definition.resource < b.definition.resource ? -1 : 1));
  }

  /** Calls back after each change, for discovery and OpenAPI to renew what they prepared. Returns the way to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #serve(definition: ResourceDefinition, version: ServedVersion): void {
    const { group, resource } = definition;
    const served = { definition, version };
    this.#byPath.set(`${group}/${version.version}/${resource}`, served);
    if (!this.#versions.has(group)) {
      this.#groups.push(group);
      this.#versions.set(group, []);
    }
    const versions = this.#versions.get(group) ?? [];
    if (!versions.includes(version.version)) versions.push(version.version);
    versions.sort(compareVersions);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
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
