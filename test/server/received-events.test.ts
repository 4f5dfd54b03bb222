import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { ReceivedEvents } from '../../src/server/received-events.ts';
import type { Change } from '../../src/storage/revision-log.ts';

const change = (group: string, resource: string): Change =>
  ({ key: { group, resource, namespace: 'n', name: 'o' } }) as unknown as Change;

test.each<[Minor, string, string]>([
  [33, 'resource="deployments.apps"', 'resource="pods"'],
  [34, 'group="apps",resource="deployments"', 'group="",resource="pods"'],
])('changes are counted by resource, since 1.34 with the group apart: 1.%i', async (emulated, apps, core) => {
  const metrics = new Metrics();
  const received = new ReceivedEvents({ metrics, emulated });
  received.applied([change('apps', 'deployments'), change('', 'pods')]);
  received.applied([change('apps', 'deployments')]);
  const name = 'apiserver_storage_events_received_total';
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  expect(lines).toEqual([`${name}{${apps}} 2`, `${name}{${core}} 1`]);
});
