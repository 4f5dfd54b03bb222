import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { FlowControlMetrics } from '../../src/observability/flow-control/flow-control-metrics.ts';
import { TimedTally } from '../../src/observability/tallies.ts';

async function linesOf(registry: Registry, name: string): Promise<string[]> {
  const text = await registry.metrics();
  return text.split('\n').filter((line) => new RegExp(`^apiserver_flowcontrol_${name}[ {]`).test(line));
}

test('what happens to requests is exposed under the names that are charted', async () => {
  const registry = new Registry();
  const metrics = new FlowControlMetrics(registry, () => 0);
  const flow = metrics.flow('system', 'system-nodes');
  flow.enqueued(2, 1);
  flow.rejected('queue-full');
  flow.rejected('queue-full');
  flow.waited(70, true);
  expect(await linesOf(registry, 'current_inqueue_seats')).toEqual([
    'apiserver_flowcontrol_current_inqueue_seats{priority_level="system",flow_schema="system-nodes"} 2',
  ]);
  expect(await linesOf(registry, 'rejected_requests_total')).toEqual([
    'apiserver_flowcontrol_rejected_requests_total{priority_level="system",flow_schema="system-nodes",reason="queue-full"} 2',
  ]);
  const waits = await linesOf(registry, 'request_wait_duration_seconds_bucket');
  const ran = waits.filter((line) => line.includes('execute="true"'));
  expect(ran.map((line) => Number(line.split(' ').at(-1)))).toEqual([
    0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  ]);
  expect(ran.at(-1)).toContain('le="+Inf"');
  expect(await linesOf(registry, 'request_wait_duration_seconds_sum')).toContain(
    'apiserver_flowcontrol_request_wait_duration_seconds_sum{priority_level="system",flow_schema="system-nodes",execute="true"} 0.07',
  );
});

test('levels show their seats, and how busy they were at every nanosecond until the scrape', async () => {
  const registry = new Registry();
  let now = 0;
  const level = new FlowControlMetrics(registry, () => now).level('system');
  level.limits({ nominal: 74, minimum: 50, maximum: 674 });
  level.capacity(100, 10);
  level.usage(0, { waiting: 0, executing: 4, seatsInUse: 5, seatsWaiting: 0 });
  now = 2;
  expect(await linesOf(registry, 'nominal_limit_seats')).toEqual([
    'apiserver_flowcontrol_nominal_limit_seats{priority_level="system"} 74',
  ]);
  const [count] = await linesOf(registry, 'priority_level_seat_utilization_count');
  expect(count).toBe(
    'apiserver_flowcontrol_priority_level_seat_utilization_count{priority_level="system",phase="executing"} 2000000',
  );
  const [sum] = await linesOf(registry, 'priority_level_seat_utilization_sum');
  expect(Number(sum?.split(' ').at(-1))).toBeCloseTo(1_000_000);
});

test('a value counts for as long as it was the value', () => {
  const tally = new TimedTally([0.5, 1]);
  tally.setDenominator(4);
  tally.set(10, 1);
  tally.set(13, 3);
  tally.set(14, 8);
  tally.settle(16);
  expect([...tally.counts]).toEqual([3e6, 1e6, 2e6]);
});
