import { answerCalls } from '../process/calls.ts';
import { DelayMeter } from './delays.ts';
import type { GeneratorCalls } from './jobs.ts';
import { runRequests } from './requests.ts';
import { WatchRun } from './watch-run.ts';

/** The load generator: a process of its own, which takes its jobs from its channel. */

const delays = new DelayMeter();
let watches: WatchRun | undefined;

answerCalls<GeneratorCalls>({
  requests: (job) => runRequests(job, delays),
  openWatches: async (job) => {
    watches?.close();
    watches = new WatchRun(job, delays);
    await watches.open();
    return undefined;
  },
  awaitEvents: async ({ events, timeoutMs }) => {
    if (watches === undefined) throw new Error('no watches are open');
    return watches.await(events, timeoutMs);
  },
  closeWatches: async () => {
    watches?.close();
    watches = undefined;
    return undefined;
  },
});
