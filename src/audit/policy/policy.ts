/** What is recorded of which request. Every level records what the ones before it do. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];

export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

export const isAtLeast = (level: Level, least: Level): boolean =>
  LEVELS.indexOf(level) >= LEVELS.indexOf(least);

/** A rule as it is matched: what the policy says for all rules is in each of them. Empty sets and lists match everything. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: ReadonlySet<string>;
  readonly userGroups: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  /** '' stands for resources without a namespace. */
  readonly namespaces: ReadonlySet<string>;
  readonly resources: readonly GroupResources[];
  /** `/healthz`, `/logs/*`, `*`. */
  readonly nonResourceUrls: readonly string[];
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export interface GroupResources {
  /** Canonical. */
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` + `/scale`, `*`. Empty: all. */
  readonly resources: readonly string[];
  readonly resourceNames: ReadonlySet<string>;
}

/** The first rule that matches a request decides; without one nothing is recorded. */
export type Policy = readonly PolicyRule[];
