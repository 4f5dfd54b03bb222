import type { ApiObject, OwnerReference } from '../../api/object-meta.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Store } from '../../storage/store.ts';
import { getOrAdd } from '../../util/get-or-add.ts';

/** Owners of restored objects: which of them exist, and which this restore has created under another uid. */
export class Owners {
  readonly #registry: Registry;
  readonly #reader: ObjectReader;
  readonly #restored = new Map<string, string>();
  readonly #alive = new Map<string, Promise<boolean>>();

  constructor(registry: Registry, store: Store) {
    this.#registry = registry;
    this.#reader = new ObjectReader(store);
  }

  /** Records that the object with uid `then` exists again, under uid `now`. */
  add(then: string, now: string): void {
    this.#restored.set(then, now);
  }

  /** The owners of a new object. Drops missing ones: the garbage collector would delete the object. */
  async ofNew(
    { metadata }: ApiObject,
    namespace: string,
  ): Promise<{ readonly owners: OwnerReference[]; readonly dropped: readonly OwnerReference[] }> {
    const owners: OwnerReference[] = [];
    const dropped: OwnerReference[] = [];
    for (const owner of metadata.ownerReferences ?? []) {
      const uid = this.#restored.get(owner.uid ?? '');
      if (uid !== undefined) owners.push({ ...owner, uid });
      else if (await this.#isAlive(owner, namespace)) owners.push({ ...owner });
      else dropped.push(owner);
    }
    return { owners, dropped };
  }

  /** Adds earlier owners that exist again to a live object. Undefined: nothing changes. */
  ofLive(live: ApiObject, then: ApiObject): OwnerReference[] | undefined {
    let owners = live.metadata.ownerReferences ?? [];
    let isChanged = false;
    for (const owner of then.metadata.ownerReferences ?? []) {
      const uid = this.#restored.get(owner.uid ?? '');
      if (uid === undefined || owners.some((one) => one.uid === uid)) continue;
      const others = owners.filter((one) => one.uid !== owner.uid);
      // An object can have one controller.
      const isFree = !others.some((one) => one.controller === true);
      const { controller, ...rest } = owner;
      owners = [...others, { ...rest, uid, ...(controller === true && isFree ? { controller } : {}) }];
      isChanged = true;
    }
    return isChanged ? owners : undefined;
  }

  #isAlive(owner: OwnerReference, namespace: string): Promise<boolean> {
    const { apiVersion = '', kind = '', name = '', uid = '' } = owner;
    const key = [apiVersion, kind, namespace, name, uid].join('\0');
    return getOrAdd(this.#alive, key, () => this.#lookUp(owner, namespace));
  }

  async #lookUp(
    { apiVersion = '', kind = '', name = '', uid }: OwnerReference,
    namespace: string,
  ): Promise<boolean> {
    const definition = this.#find(apiVersion, kind);
    if (definition === undefined || (definition.namespaced && namespace === '')) return false;
    const key = { ...definition.storage, namespace: definition.namespaced ? namespace : '', name };
    const entry = await this.#reader.entry(key, { uid: uid ?? '' });
    return entry?.uid === uid;
  }

  /** The version may no longer be served. */
  #find(apiVersion: string, kind: string): ResourceDefinition | undefined {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const asked = apiVersion.slice(slash + 1);
    for (const version of [asked, ...this.#registry.versions(group)])
      for (const { definition } of this.#registry.resources(group, version))
        if (definition.kind === kind && definition.verbs.includes('get')) return definition;
    return undefined;
  }
}
