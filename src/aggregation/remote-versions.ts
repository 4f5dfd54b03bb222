import { canonicalGroup } from '../api/dialect.ts';
import type { APIService } from '../api/types/apiregistration/v1.ts';
import type { Followed } from '../storage/follower.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import {
  isAvailable,
  keyOf,
  MANAGED,
  ON_START,
  type RemoteVersion,
  toRemoteVersion,
} from './managed-api-services.ts';

/** The group versions of other servers, in step with the watch cache. Most clusters have none, which makes lookups free. */
export class RemoteVersions implements Followed {
  /** By group and version. */
  readonly #byVersion = new Map<string, RemoteVersion>();
  readonly #byName = new Map<string, RemoteVersion>();
  /** Whether each API service is available, local ones included. */
  readonly #availability = new Map<string, boolean>();
  /** This server's built-in group versions by API service name, as long as any existed. */
  readonly #builtIn = new Map<string, string>();
  readonly #listeners = new Set<() => void>();

  get isEmpty(): boolean {
    return this.#byVersion.size === 0;
  }

  /** `group` is canonical. */
  find(group: string, version: string): RemoteVersion | undefined {
    return this.isEmpty ? undefined : this.#byVersion.get(keyOf(group, version));
  }

  named(name: string): RemoteVersion | undefined {
    return this.#byName.get(name);
  }

  all(): Iterable<RemoteVersion> {
    return this.#byVersion.values();
  }

  /** Names and availability of all API services. */
  availability(): Iterable<readonly [name: string, isAvailable: boolean]> {
    return this.#availability;
  }

  /** Group versions of this server whose API services were deleted. The next start creates these again. */
  withdrawn(): ReadonlySet<string> {
    const names = [...this.#builtIn].filter(([name]) => !this.#availability.has(name));
    return new Set(names.map(([, key]) => key));
  }

  /** Calls back after each change of a remote group version, and of withdrawn ones. Returns a function to unsubscribe. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  replace(entries: readonly Entry[]): void {
    const hadAny = !this.isEmpty || this.withdrawn().size > 0;
    this.#byName.clear();
    this.#byVersion.clear();
    this.#availability.clear();
    for (const entry of entries) this.#set(entry);
    if (hadAny || !this.isEmpty || this.withdrawn().size > 0) this.#tell();
  }

  apply({ type, entry }: ObjectEvent): void {
    const before = this.#byName.get(entry.name);
    const wasThere = this.#availability.has(entry.name);
    this.#drop(entry.name);
    const after = type === 'DELETED' ? undefined : this.#set(entry);
    const isBuiltIn = this.#builtIn.has(entry.name) && wasThere !== this.#availability.has(entry.name);
    if (before !== undefined || after !== undefined || isBuiltIn) this.#tell();
  }

  #set(entry: Entry): RemoteVersion | undefined {
    const api = toObject<APIService>(entry);
    this.#availability.set(entry.name, isAvailable(api));
    const remote = toRemoteVersion(api);
    if (remote === undefined) {
      const { group = '', version = '' } = api.spec ?? {};
      if (api.metadata.labels?.[MANAGED] === ON_START)
        this.#builtIn.set(entry.name, keyOf(canonicalGroup(group).group, version));
      return undefined;
    }
    this.#byName.set(entry.name, remote);
    this.#byVersion.set(keyOf(remote.group, remote.version), remote);
    return remote;
  }

  #drop(name: string): void {
    this.#availability.delete(name);
    const before = this.#byName.get(name);
    if (before === undefined) return;
    this.#byName.delete(name);
    const key = keyOf(before.group, before.version);
    // A group of this server has two names, each of which may have an API service.
    if (this.#byVersion.get(key) === before) this.#byVersion.delete(key);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
