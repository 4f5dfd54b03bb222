import type { Registry } from '../registry/registry.ts';
import type { Followed } from '../storage/follower.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { CustomResource, type CustomResourceParts } from './custom-resource.ts';

/** Keeps the registry as new as the log's definitions. */
export class ServedDefinitions implements Followed {
  readonly #registry: Registry;
  readonly #parts: CustomResourceParts;
  /** Digests of what is served, by the definition's name. */
  readonly #served = new Map<string, string>();

  constructor(parts: CustomResourceParts & { readonly registry: Registry }) {
    this.#registry = parts.registry;
    this.#parts = parts;
  }

  replace(entries: readonly Entry[]): void {
    const names = new Set(entries.map(({ name }) => name));
    for (const name of this.#served.keys()) if (!names.has(name)) this.#end(name);
    for (const entry of entries) this.#serve(entry);
  }

  apply({ type, entry }: ObjectEvent): void {
    if (type === 'DELETED') this.#end(entry.name);
    else this.#serve(entry);
  }

  #serve({ name, json }: Entry): void {
    const resource = new CustomResource(json, this.#parts);
    if (!resource.isServed) this.#end(name);
    else if (this.#served.get(name) !== resource.digest) {
      this.#served.set(name, resource.digest);
      this.#registry.put(name, resource.definitions());
    }
  }

  #end(name: string): void {
    if (this.#served.delete(name)) this.#registry.remove(name);
  }
}
