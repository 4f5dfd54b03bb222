import type { LoadCost, Target } from '../load/jobs.ts';
import type { Timed } from './objectives.ts';

/** What processes that stand in for a cluster are asked, and what they answer. Plain data: it travels between processes. */

export const PODS_A_NODE = 30;
/** Pods of one deployment, which has a service and an endpoint slice. */
export const PODS_A_DEPLOYMENT = 30;

export interface NodesJob {
  readonly target: Target;
  readonly namespace: string;
  /** `node-0` is the first. */
  readonly first: number;
  readonly count: number;
}

export interface ManagerJob {
  readonly target: Target;
  readonly namespace: string;
  readonly nodes: number;
  /** Pods that rolling deployments replace, a second. */
  readonly podsPerSecond: number;
}

export interface Watched {
  /** Bytes of all watches. */
  readonly bytes: number;
  /** Watches that the server has ended. */
  readonly dropped: number;
}

export interface Part extends LoadCost, Watched {
  readonly timed: readonly Timed[];
  /** From a pod's creation until a controller sees that it runs. */
  readonly startedMs: readonly number[];
  /** How late its own timers were, at the 99th percentile: what it measures of others is as much too long. */
  readonly lateMs: number;
}

export interface PartCalls<Job> {
  /** Connects and opens all watches. */
  readonly open: { argument: Job; result: undefined };
  /** Acts from now on. */
  readonly begin: { argument: undefined; result: undefined };
  /** What happened since the last time. */
  readonly take: { argument: undefined; result: Part };
}

export type NodesCalls = PartCalls<NodesJob>;
export type ManagerCalls = PartCalls<ManagerJob>;

/** What a deployment of kube-controller-manager and kube-scheduler replaces by default, and scale tests of large clusters ask for. */
export const podsPerSecondOf = (nodes: number): number => Math.max(1, Math.min(10, nodes / 10), nodes / 100);
