import type { Summary } from '../measure/percentile.ts';

/** What the load generator is asked to do, and what it answers. Plain data: it travels between processes. */

export interface Target {
  /** https://host:port, without a path. */
  readonly url: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

export type Protocol = 'h2' | 'h1';

/** Clients that each wait for the reply before they go on, or a steady rate that waits for no reply. */
export type Pace = { readonly clients: number } | { readonly perSecond: number };

/** One kind of request. Path and body are templates (template.ts). */
export interface Plan {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pace: Pace;
  /** `$N` goes through 0…objects-1. Each client has objects of its own as long as there are enough. */
  readonly objects?: number;
  /** End after every object had its turn, instead of at the end of the time. */
  readonly once?: boolean;
  /** Keep each object's resourceVersion for `$V`, from replies; read beforehand at this path. */
  readonly versionsFrom?: string;
  /** Follow `metadata.continue` of the replies to the end: each page is a request. */
  readonly pages?: boolean;
  /** Remember when the reply to each resourceVersion came, for watches of the same process. */
  readonly stamped?: boolean;
}

export interface RequestsJob {
  readonly target: Target;
  readonly protocol: Protocol;
  readonly connections: number;
  readonly plans: readonly Plan[];
  /** How long requests are begun. A plan that goes through its objects once ends by itself. */
  readonly durationMs: number;
}

export interface PlanResult {
  readonly name: string;
  readonly count: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly firstFailure: string;
  readonly bytes: number;
  readonly latencyMs: Summary;
  readonly firstByteMs: Summary;
}

/** How much of one core the generator used. Near 1 it is what is measured, not the server. */
export interface LoadCost {
  readonly seconds: number;
  readonly cores: number;
}

export interface RequestsResult extends LoadCost {
  readonly plans: readonly PlanResult[];
}

export interface WatchJob {
  readonly target: Target;
  /** h1: each watch has a connection of its own. h2: they are streams of `connections` connections. */
  readonly protocol: Protocol;
  readonly connections: number;
  readonly watchers: number;
  /** `$N` is the watcher's number. */
  readonly path: string;
  /** Compare each event's arrival with the reply to its write. Costs the parsing of a number an event. */
  readonly delays: boolean;
  /** What comes while others are still being opened counts too. */
  readonly countsFromStart?: boolean;
}

export interface WatchResult extends LoadCost {
  readonly events: number;
  readonly bytes: number;
  /** Watches the server has ended. */
  readonly dropped: number;
  /** From the first to the last event. */
  readonly spanSeconds: number;
  readonly delayMs: Summary;
}

export interface GeneratorCalls {
  readonly requests: { argument: RequestsJob; result: RequestsResult };
  /** Resolves when all watches are open. Counting begins, unless it has from the start. */
  readonly openWatches: { argument: WatchJob; result: undefined };
  /** Resolves once that many events have come since, or the time is over. Counting begins anew. */
  readonly awaitEvents: { argument: { events: number; timeoutMs: number }; result: WatchResult };
  readonly closeWatches: { argument: undefined; result: undefined };
}

/** Above this share of a core the generator may be what limits the rate. */
export const SATURATED = 0.9;
