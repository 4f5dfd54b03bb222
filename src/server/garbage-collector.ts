import { StatusError } from '../api/status.ts';
import { GarbageCollector, type GarbageCollectorState } from '../controllers/garbage/garbage-collector.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createReminder } from '../util/reminder.ts';
import type { Client } from '../verbs/client/client.ts';
import type { Foundation } from './foundation.ts';

/** Makes the garbage collector and its metrics. */
export function createGarbageCollector(
  { registry, now, logger, metrics, describeOutage }: Foundation,
  client: Client,
): GarbageCollector {
  const remind = createReminder((trouble) => logger.warn('garbage collector', { trouble }));
  const collector = new GarbageCollector({
    ...{ client, registry, now },
    isOutage: (error) => describeOutage(error) !== undefined,
    onError: (error, object) => {
      // A webhook may refuse ten thousand deletions.
      if (error instanceof StatusError) remind(`${object}: ${error.message}`);
      else logger.error('garbage collector', error);
    },
  });
  addMetrics(metrics, collector);
  return collector;
}

/** Kubernetes' name of this queue, so that dashboards for a controller manager show it. */
const QUEUE = 'garbage_collector_attempt_to_delete';

/** Under Kubernetes' names where it has them, otherwise under our own prefix. */
function addMetrics(metrics: Metrics, collector: GarbageCollector): void {
  const add = (
    type: 'counter' | 'gauge',
    { name, help, isOfQueue = true }: { name: string; help: string; isOfQueue?: boolean },
    read: (state: GarbageCollectorState) => number,
  ): void => {
    metrics.add(
      new Numbers(type, { name, help, labels: isOfQueue ? ['name'] : [] }, (numbers) => {
        numbers.at(...(isOfQueue ? [QUEUE] : [])).value = read(collector.state);
      }),
    );
  };
  add(
    'gauge',
    { name: 'workqueue_depth', help: 'Objects that wait for the garbage collector.' },
    ({ depth }) => depth,
  );
  add(
    'counter',
    { name: 'workqueue_adds_total', help: 'Objects that the garbage collector was to look at.' },
    ({ added }) => added,
  );
  add(
    'counter',
    { name: 'workqueue_retries_total', help: 'Objects that the garbage collector had to look at again.' },
    ({ retried }) => retried,
  );
  add(
    'counter',
    {
      name: 'garbagecollector_controller_resources_sync_error_total',
      help: 'Failures of the garbage collector: its attempts at an object are repeated after each.',
      isOfQueue: false,
    },
    ({ failed }) => failed,
  );
  add(
    'gauge',
    {
      name: 'pg_apiserver_garbage_collector_nodes',
      help: 'Objects that the garbage collector knows because they have owners or dependents.',
      isOfQueue: false,
    },
    ({ nodes }) => nodes,
  );
}
