import type { FlowMetrics, FlowRecorder, LevelRecorder } from '../../src/flow-control/flow-recorder.ts';

const nothing = (): void => {};

const NO_FLOW: FlowRecorder = {
  estimated: nothing,
  enqueued: nothing,
  dequeued: nothing,
  started: nothing,
  finished: nothing,
  released: nothing,
  dispatched: nothing,
  rejected: nothing,
  waited: nothing,
  executed: nothing,
  watchers: nothing,
  noAccommodation: nothing,
};

const NO_LEVEL: LevelRecorder = {
  progress: nothing,
  dispatch: nothing,
  usage: nothing,
  capacity: nothing,
  limits: nothing,
  adjusted: nothing,
};

export const NO_METRICS: FlowMetrics = {
  flow: () => NO_FLOW,
  level: () => NO_LEVEL,
  fairFraction: nothing,
};
