import type { Registry } from '../registry/registry.ts';
import type { Followed } from '../storage/follower.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { CustomResource, type CustomResourceParts } from './custom-resource.ts';

/** Keeps the registry in step with the definitions in the log. */
export class ServedDefinitions implements Followed {
  readonly #registry: Registry;
  readonly #parts: CustomResourceParts;
  readonly #served = new Map<string, CustomResource>();

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
    const before = this.#served.get(name);
    if (!resource.isServed) this.#end(name);
    else if (before?.digest === resource.digest) this.#goOn(before, resource);
    else {
      this.#served.set(name, resource);
      this.#registry.put(name, resource.definitions());
      before?.retire();
    }
  }

  #goOn(resource: CustomResource, next: CustomResource): void {
    const wasEnding = resource.isEnding;
    resource.become(next);
    // Discovery omits writes of ending definitions.
    if (resource.isEnding !== wasEnding) this.#registry.relist(resource.name);
  }

  #end(name: string): void {
    const before = this.#served.get(name);
    if (before === undefined) return;
    this.#served.delete(name);
    this.#registry.remove(name);
    before.retire();
  }
}
