/** What flow control tells of one priority level. */

export interface LevelUsage {
  readonly waiting: number;
  readonly executing: number;
  readonly seatsInUse: number;
  readonly seatsWaiting: number;
}

/** Seats that a level has by its configuration. */
export interface LevelLimits {
  readonly nominal: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** What the periodic adjustment saw and decided. */
export interface LevelAdjustment {
  readonly highWatermark: number;
  readonly average: number;
  readonly deviation: number;
  readonly smoothed: number;
  readonly target: number;
  readonly limit: number;
}

/** Virtual times at a dispatch, in seat-seconds. The bounds are over the queues with waiting requests. */
export interface DispatchProgress {
  readonly now: number;
  readonly start: number;
  readonly least: number;
  readonly most: number;
  readonly leastDiscounted: number;
  readonly mostDiscounted: number;
}
