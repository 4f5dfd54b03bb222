import type { JsonObject } from '../api/object-meta.ts';

/** A group version of another server, in its last known state. */
export interface RemoteApi {
  /** Canonical. */
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** In aggregated discovery's form; empty until the server has answered. */
  readonly resources: readonly JsonObject[];
  /** Whether the last request was answered. */
  readonly isFresh: boolean;
}

/** Another server's part of the single OpenAPI document (v2). */
export interface RemoteDocument {
  /** Identifies the content. */
  readonly etag: string;
  readonly paths: JsonObject;
  /** The definitions that the paths refer to. */
  readonly definitions: JsonObject;
}

/** APIs of other servers. Reads never wait: they return the last known state. */
export interface RemoteApis {
  all(): readonly RemoteApi[];
  /** URLs of the OpenAPI documents (v3) on this server, by their paths: `apis/example.com/v1`. */
  openApiV3(): ReadonlyMap<string, string>;
  openApiV2(): readonly RemoteDocument[];
  /**
   * Group versions of this server, as `group/version`, that are served but not listed, because their API services were deleted
   * (Kubernetes: kube-aggregator lists only those of API services, and delegates all others).
   */
  withdrawn(): ReadonlySet<string>;
  /** Calls back after each change. Returns a function to unsubscribe. */
  onChange(listener: () => void): () => void;
}

export const NO_REMOTE_APIS: RemoteApis = {
  all: () => [],
  openApiV3: () => new Map(),
  openApiV2: () => [],
  withdrawn: () => new Set(),
  onChange: () => () => {},
};

/** Objects on other servers. */
export interface RemoteContents {
  /**
   * Deletes the objects in a namespace. Returns how many are left, and which group versions could not be listed, each with the
   * reason. Never rejects.
   */
  empty(namespace: string, signal: AbortSignal): Promise<{ left: number; unknown: readonly string[] }>;
}
