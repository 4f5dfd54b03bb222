import type { JsonObject } from '../api/object-meta.ts';

/** A group version that another server serves, as it was last heard of. */
export interface RemoteApi {
  /** Canonical. */
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** As aggregated discovery shows them; none before the server has said anything. */
  readonly resources: readonly JsonObject[];
  /** Whether the server answered when it was last asked. */
  readonly isFresh: boolean;
}

/** The part of the one OpenAPI document (v2) that is another server's. */
export interface RemoteDocument {
  /** Of what it says. */
  readonly etag: string;
  readonly paths: JsonObject;
  /** Those that the paths refer to. */
  readonly definitions: JsonObject;
}

/** What other servers say of themselves. Nobody waits for them: what is shown is what is known. */
export interface RemoteApis {
  all(): readonly RemoteApi[];
  /** URLs of the OpenAPI documents (v3) on this server, by their paths: `apis/example.com/v1`. */
  openApiV3(): ReadonlyMap<string, string>;
  openApiV2(): readonly RemoteDocument[];
  /**
   * Group versions of this server, as `group/version`, that are served and not listed, because somebody deleted their API services
   * (Kubernetes: kube-aggregator lists what API services name, and passes on all else).
   */
  withdrawn(): ReadonlySet<string>;
  onChange(listener: () => void): void;
}

export const NO_REMOTE_APIS: RemoteApis = {
  all: () => [],
  openApiV3: () => new Map(),
  openApiV2: () => [],
  withdrawn: () => new Set(),
  onChange: () => {},
};

/** The objects that other servers have. */
export interface RemoteContents {
  /**
   * Deletes those in a namespace. Answers how many are left, and which group versions did not say what they have, each with the
   * reason. Never rejects.
   */
  empty(namespace: string, signal: AbortSignal): Promise<{ left: number; unknown: readonly string[] }>;
}
