import { expect, test } from 'vitest';
import { QuotaUsage, type StoredQuotas } from '../../src/controllers/quota-usage.ts';
import type { Registry } from '../../src/registry/registry.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { AddedEvent } from '../../src/storage/added-event.ts';
import { CachedEntry } from '../../src/storage/cached-entry.ts';
import { DeliveredEvents } from '../../src/storage/delivered-events.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { EventStream, WatchQuery } from '../../src/storage/store.ts';
import { aborted } from '../../src/util/pause.ts';
import { endTurn } from '../../src/util/turns.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { createTestClient } from '../kit/client.ts';

const QUOTA = {
  kind: 'ResourceQuota',
  apiVersion: 'v1',
  metadata: { name: 'q', namespace: 'shop' },
  spec: { hard: { pods: '5' } },
};

const entryOf = (quota: object): CachedEntry =>
  new CachedEntry(
    {
      key: { group: '', resource: 'resourcequotas', namespace: 'shop', name: 'q' },
      uid: '1',
      revision: toRevision(1),
      json: Buffer.from(JSON.stringify(quota)),
    },
    () => ({}),
  );

const entry = entryOf(QUOTA);
const waiting = entryOf({ ...QUOTA, spec: { hard: { 'count/deployments.apps': '1' } } });

test('when a counted resource cannot be followed the run fails, and the next run follows everything again', async () => {
  const followed: string[] = [];
  const again = Promise.withResolvers<void>();
  const watch = async ({ resource }: WatchQuery, signal: AbortSignal): Promise<EventStream> => {
    followed.push(resource.resource);
    const isQuotas = resource.resource === 'resourcequotas';
    if (!isQuotas && followed.length === 2) throw new Error('broken');
    if (!isQuotas) again.resolve();
    return new DeliveredEvents((take, until) => {
      if (isQuotas) take(new AddedEvent(entry));
      return aborted(until);
    }, signal);
  };
  const usage = new QuotaUsage({
    client: createTestClient({ definitions: [], watch }).client,
    quotas: {} as StoredQuotas,
    definitions: () => BUILT_IN_RESOURCES.filter(({ resource }) => resource === 'pods'),
    onResources: () => () => {},
    now: () => new Date(),
    onError: () => {},
  });
  const stop = new AbortController();
  await expect(usage.run(stop.signal, () => {})).rejects.toThrow('broken');
  const running = usage.run(stop.signal, () => {});
  await again.promise;
  expect(followed).toEqual(['resourcequotas', 'pods', 'resourcequotas', 'pods']);
  stop.abort();
  await running;
});

test('a resource that comes later is followed for the quotas that wait for it', async () => {
  const followed: string[] = [];
  const watch = async ({ resource }: WatchQuery, signal: AbortSignal): Promise<EventStream> => {
    followed.push(resource.resource);
    return new DeliveredEvents((take, until) => {
      if (resource.resource === 'resourcequotas') take(new AddedEvent(waiting));
      return aborted(until);
    }, signal);
  };
  let definitions: readonly ResourceDefinition[] = [];
  let changed: Parameters<Registry['onChange']>[0] | undefined;
  const usage = new QuotaUsage({
    client: createTestClient({ definitions: [], watch }).client,
    quotas: {} as StoredQuotas,
    definitions: () => definitions,
    onResources: (listener) => {
      changed = listener;
      return () => {
        changed = undefined;
      };
    },
    now: () => new Date(),
    onError: () => {},
  });
  const stop = new AbortController();
  const running = usage.run(stop.signal, () => {});
  await expect.poll(() => followed).toEqual(['resourcequotas']);
  definitions = BUILT_IN_RESOURCES.filter(({ resource }) => resource === 'deployments');
  await endTurn();
  changed?.({ groups: new Set(['example.com']) });
  await endTurn();
  expect(followed).toEqual(['resourcequotas']);
  changed?.({ groups: new Set(['apps']) });
  await expect.poll(() => followed).toEqual(['resourcequotas', 'deployments']);
  stop.abort();
  await running;
  expect(changed).toBeUndefined();
});
