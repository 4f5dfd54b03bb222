import { type GroupResource, toApiVersion, toResourceKey } from '../../api/names.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';

/** A resource with stored objects. Each has one value, so that identity compares them. */
export type Stored = GroupResource;

/** The resource of a kind. */
export interface Target {
  readonly resource: Stored;
  readonly namespaced: boolean;
  /** False: it was served earlier. */
  readonly isServed: boolean;
}

/** The served resources by kind, in any version, as in owner references. */
export class Kinds {
  readonly #registry: Registry;
  readonly #stored = new Map<string, Stored>();
  readonly #targets = new Map<string, Target>();
  #generation = -1;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Undefined for a kind that was never served. */
  find({ group, kind }: { readonly group: string; readonly kind: string }): Target | undefined {
    if (this.#generation !== this.#registry.generation) this.#renew();
    return this.#targets.get(`${group}/${kind}`);
  }

  stored({ group, resource }: GroupResource): Stored {
    const key = toResourceKey({ group, resource });
    let stored = this.#stored.get(key);
    if (stored === undefined) {
      stored = { group, resource };
      this.#stored.set(key, stored);
    }
    return stored;
  }

  /** The resources whose objects can be watched and deleted. */
  collected(): Stored[] {
    return [...this.#registry.storages()].filter(isCollected).map(({ storage }) => this.stored(storage));
  }

  isServed(resource: Stored): boolean {
    return this.#registry.findStorage(resource) !== undefined;
  }

  /** The kind and version of a resource, for events. */
  headOf(resource: Stored): { readonly kind: string; readonly apiVersion: string } {
    const definition = this.#registry.findStorage(resource);
    if (definition === undefined) return { kind: '', apiVersion: '' };
    const { group, kind, versions } = definition;
    return { kind, apiVersion: toApiVersion({ group, version: versions[0]?.version ?? '' }) };
  }

  #renew(): void {
    for (const [key, target] of this.#targets) this.#targets.set(key, { ...target, isServed: false });
    for (const { group, versions } of this.#registry.groups()) {
      for (const version of versions) {
        for (const { definition } of this.#registry.resources(group, version)) this.#add(definition);
      }
    }
    this.#generation = this.#registry.generation;
  }

  #add({ group, kind, namespaced, storage, verbs }: ResourceDefinition): void {
    if (!verbs.includes('get')) return;
    const key = `${group}/${kind}`;
    if (this.#targets.get(key)?.isServed === true) return;
    this.#targets.set(key, { resource: this.stored(storage), namespaced, isServed: true });
  }
}

const isCollected = ({ verbs }: ResourceDefinition): boolean =>
  verbs.includes('delete') && verbs.includes('list') && verbs.includes('watch');
