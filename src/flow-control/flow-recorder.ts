import type {
  DispatchProgress,
  LevelAdjustment,
  LevelLimits,
  LevelUsage,
} from '../observability/flow-control/flow-tallies.ts';

/** Takes the measurements of flow control. Implementations are called several times for each request and must be cheap. */
export interface FlowMetrics {
  flow(level: string, schema: string): FlowRecorder;
  level(level: string): LevelRecorder;
  /** The part of its target that each level gets, unless a limit of its own binds it. */
  fairFraction(fraction: number): void;
}

type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** Takes the measurements of one schema's requests at one level. */
export interface FlowRecorder {
  estimated(seats: number): void;
  enqueued(seats: number, queueLength: number): void;
  dequeued(seats: number): void;
  started(seats: number): void;
  finished(): void;
  /** Called after `finished`; later when the seats are held for the events that watchers get. */
  released(seats: number): void;
  dispatched(): void;
  rejected(reason: RejectReason): void;
  waited(ms: number, executed: boolean): void;
  executed(ms: number, kind: 'regular' | 'watch'): void;
  watchers(count: number): void;
  noAccommodation(): void;
}

export interface LevelRecorder {
  progress(virtualTime: number): void;
  dispatch(progress: DispatchProgress): void;
  /** `now` in milliseconds. Called after each change. */
  usage(now: number, usage: LevelUsage): void;
  /** The maximum that usage is measured against. */
  capacity(waiting: number, executing: number): void;
  limits(limits: LevelLimits): void;
  adjusted(adjustment: LevelAdjustment): void;
}

const nothing = (): void => {};

const NO_LEVEL: LevelRecorder = {
  progress: nothing,
  dispatch: nothing,
  usage: nothing,
  capacity: nothing,
  limits: nothing,
  adjusted: nothing,
};

/** In threads other than the main one: the seats and the demand of levels are measured there, for all threads. */
export const ofFlowsAlone = (metrics: FlowMetrics): FlowMetrics => ({
  flow: (level, schema) => metrics.flow(level, schema),
  level: () => NO_LEVEL,
  fairFraction: nothing,
});
