import type { RemoteApi, RemoteApis, RemoteDocument } from '../registry/remote-apis.ts';
import { keyOf } from './managed-api-services.ts';
import type { Discovered } from './remote-discovery.ts';
import type { RemoteVersions } from './remote-versions.ts';

/** What one server last said of its APIs. It stays when the server fails, for readers who know its age. */
export interface RemoteState {
  readonly discovered: Discovered;
  /** Whether the last request was answered. */
  readonly isFresh: boolean;
  /** URLs of OpenAPI documents (v3) by their paths. */
  readonly urls: ReadonlyMap<string, string>;
  readonly document: RemoteDocument | undefined;
}

/** By the keys of the servers. */
export type RemoteStates = ReadonlyMap<string, RemoteState>;

/**
 * KnownDocuments are other servers' discovery and OpenAPI documents, as one thread of this server has read them
 * (RemoteDocuments). All threads have the same, so that discovery does not depend on the connection.
 */
export class KnownDocuments implements RemoteApis {
  readonly #remote: RemoteVersions;
  readonly #listeners = new Set<() => void>();
  #states: RemoteStates = new Map();
  /** What listeners were last notified of. */
  #shown = '';

  constructor(remote: RemoteVersions) {
    this.#remote = remote;
    remote.onChange(() => this.#tell());
  }

  get states(): RemoteStates {
    return this.#states;
  }

  /** Takes what the servers say now, and notifies listeners of a change. */
  take(states: RemoteStates): void {
    this.#states = states;
    this.#tell();
  }

  all(): RemoteApi[] {
    return [...this.#remote.all()].map((one) => {
      const { group, version, groupPriority, versionPriority, server, isAvailable } = one;
      const { discovered, isFresh = false } = this.#states.get(server) ?? {};
      return {
        ...{ group, version, groupPriority, versionPriority },
        resources: discovered?.get(keyOf(group, version)) ?? [],
        isFresh: isAvailable && isFresh,
      };
    });
  }

  openApiV3(): Map<string, string> {
    return new Map([...this.#states.values()].flatMap(({ urls }) => [...urls]));
  }

  openApiV2(): RemoteDocument[] {
    return [...this.#states.values()].flatMap(({ document }) => document ?? []);
  }

  withdrawn(): ReadonlySet<string> {
    return this.#remote.withdrawn();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    const etags = this.openApiV2().map(({ etag }) => etag);
    const shows = JSON.stringify([this.all(), [...this.openApiV3()], etags, [...this.withdrawn()]]);
    if (shows === this.#shown) return;
    this.#shown = shows;
    for (const listener of this.#listeners) listener();
  }
}
