import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { ServiceCIDR } from '../../src/api/types/networking/v1beta1.ts';
import {
  AddressRecords,
  DefaultRange,
  IP_ADDRESSES,
  poolsOf,
  ReadyRanges,
  SERVICE_CIDRS,
  serviceCidrs,
} from '../../src/controllers/service-ranges.ts';
import { type IpRange, parseCidr } from '../../src/object/ip.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { ipaddresses } from '../../src/resources/networking/ip-address.ts';
import { servicecidrs } from '../../src/resources/networking/service-cidr.ts';
import { AddedEvent } from '../../src/storage/added-event.ts';
import { DeliveredEvents } from '../../src/storage/delivered-events.ts';
import type { Entry, EventStream, TakeEvent, WatchQuery } from '../../src/storage/store.ts';
import { aborted } from '../../src/util/pause.ts';
import type { Client } from '../../src/verbs/client/client.ts';
import { DEFAULT_MINOR } from '../../src/version.ts';
import { createTestClient } from '../kit/client.ts';

const range = (text: string): IpRange => {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`${text} is no range`);
  return parsed;
};
const OWN = [range('10.0.0.0/29')];
const NOW = new Date('2026-02-02T00:00:00Z');

const cidr = (name: string, cidrs: string[], more: object = {}): ServiceCIDR =>
  ({
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1beta1',
    metadata: { name },
    spec: { cidrs },
    ...more,
  }) as ServiceCIDR;
const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

test('addresses come from the range of the flags and from those that are ready, each once', () => {
  const [pool] = poolsOf(OWN, [range('10.0.1.0/29'), range('10.0.1.0/30'), range('fd00::/120')]);
  expect(pool?.range).toBe('10.0.0.0/29,10.0.1.0/29');
  expect(pool?.size).toBe(12);
  const values = Array.from({ length: 12 }, (_, index) => pool?.valueAt(index) ?? '');
  expect(values.slice(5, 8)).toEqual(['10.0.0.6', '10.0.1.1', '10.0.1.2']);
  expect(values.map((value) => pool?.indexOf(value))).toEqual(values.map((_, index) => index));
  expect(pool?.indexOf('10.0.2.1')).toBeUndefined();
});

test('a range can be widened', () => {
  const [pool] = poolsOf(OWN, [range('10.0.0.0/24')]);
  expect([pool?.range, pool?.size]).toEqual(['10.0.0.0/24', 254]);
});

const setUp = () => createTestClient({ definitions: [servicecidrs, ipaddresses, services], minor: 36 });

function defaultRange(client: Client, own: readonly IpRange[], minor: Minor = DEFAULT_MINOR): DefaultRange {
  const onError = (error: unknown): void => {
    throw error;
  };
  return new DefaultRange({ client, own, minor, onError });
}

test('only ranges that are ready and stay are passed on', async () => {
  const { client, store } = setUp();
  const put = (object: ServiceCIDR): void => store.put('networking.k8s.io', 'servicecidrs', object);
  put(cidr('ready', ['10.0.1.0/24'], ready));
  put(cidr('new', ['10.0.2.0/24']));
  put(
    cidr('ending', ['10.0.3.0/24'], {
      ...ready,
      metadata: { name: 'ending', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['f'] },
    }),
  );
  let given: readonly IpRange[] = [];
  const follow = new ReadyRanges((ranges) => {
    given = ranges;
  });
  const entries = await client.entries(SERVICE_CIDRS);
  follow.replace(entries);
  expect(given).toEqual([range('10.0.1.0/24')]);
  const entry = entries.find(({ name }) => name === 'ready') as Entry;
  follow.apply({ type: 'DELETED', entry, revision: entry.revision });
  expect(given).toEqual([]);
});

test('the range of the flags comes back after its end, and grows by a family since 1.33', async () => {
  const changed: TakeEvent[] = [];
  const watch = async (_: WatchQuery, signal: AbortSignal): Promise<EventStream> =>
    new DeliveredEvents((take, until) => {
      changed.push(take);
      return aborted(until);
    }, signal);
  const { client, store } = createTestClient({ definitions: [servicecidrs], minor: 36, watch });
  const cidrs = async (): Promise<readonly string[] | undefined> =>
    (await client.get(SERVICE_CIDRS, { name: 'kubernetes' }))?.spec?.cidrs;
  const dual = [...OWN, range('fd00::/120')];
  await defaultRange(client, OWN).ensure();
  for (const minor of [32, 33] as const) {
    await defaultRange(client, dual, minor).ensure();
    expect(await cidrs()).toEqual(minor < 33 ? ['10.0.0.0/29'] : ['10.0.0.0/29', 'fd00::/120']);
  }
  const other = [range('10.1.0.0/24')];
  await defaultRange(client, [...other, range('fd01::/120')], 33).ensure();
  expect(await cidrs()).toEqual(['10.0.0.0/29', 'fd00::/120']);
  const stop = new AbortController();
  const running = defaultRange(client, other).run(stop.signal);
  await expect.poll(() => changed).toHaveLength(1);
  const [entry] = (await client.entries(SERVICE_CIDRS)) as [Entry];
  store.drop('networking.k8s.io', 'servicecidrs', entry);
  changed[0]?.(new AddedEvent(entry));
  await expect.poll(cidrs).toEqual(['10.1.0.0/24']);
  stop.abort();
  await running;
});

test('the ranges of the flags are shown, and every range becomes ready', async () => {
  const { client } = setUp();
  await defaultRange(client, [...OWN, range('fd00::/120')]).ensure();
  const rule = serviceCidrs(() => NOW);
  const [entry] = await client.entries(SERVICE_CIDRS);
  await rule.act(entry as Entry, client);
  const made = await client.get(SERVICE_CIDRS, { name: 'kubernetes' });
  expect(made?.spec?.cidrs).toEqual(['10.0.0.0/29', 'fd00::/120']);
  expect(made?.metadata.finalizers).toEqual(['networking.k8s.io/service-cidr-finalizer']);
  expect(made?.status?.conditions).toEqual([
    {
      ...{ type: 'Ready', status: 'True', lastTransitionTime: '2026-02-02T00:00:00Z', reason: '' },
      message: 'Kubernetes default Service CIDR is ready',
    },
  ]);
  const [reporter, maker, ...others] = made?.metadata.managedFields ?? [];
  expect(others).toEqual([]);
  expect(maker).toMatchObject({ manager: 'kube-apiserver', apiVersion: 'networking.k8s.io/v1' });
  expect(reporter).toMatchObject({
    ...{ manager: 'kubernetes-service-cidr-controller', operation: 'Apply', subresource: 'status' },
    apiVersion: 'networking.k8s.io/v1',
  });
  expect(JSON.stringify(reporter)).not.toContain('f:reason');
  expect(rule.dueAt(made as ServiceCIDR)).toBeUndefined();
});

test('a range that is deleted stays until no service has an address of it that no other range has', async () => {
  const { client, store } = setUp();
  const held = {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['networking.k8s.io/service-cidr-finalizer'],
  };
  store.put(
    'networking.k8s.io',
    'servicecidrs',
    cidr('old', ['10.0.1.0/24'], { metadata: { name: 'old', ...held } }),
  );
  const records = new AddressRecords({ client, onError: () => {} });
  store.put('', 'services', {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { clusterIPs: ['10.0.1.5'] },
  });
  const [service] = await client.entries({ group: '', resource: 'services' });
  await records.note({ type: 'ADDED', entry: service as Entry, revision: (service as Entry).revision });
  const [recorded] = await client.list(IP_ADDRESSES);
  expect([recorded]).toMatchObject([
    {
      metadata: {
        name: '10.0.1.5',
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
    },
  ]);
  expect(recorded?.spec).toEqual({ parentRef: { resource: 'services', namespace: 'shop', name: 'web' } });
  const rule = serviceCidrs(() => NOW);
  const act = async () => {
    const entry = (await client.entries(SERVICE_CIDRS)).find(({ name }) => name === 'old');
    return rule.act(entry as Entry, client);
  };
  expect(await act()).toBe(5000);
  const ending = await client.get(SERVICE_CIDRS, { name: 'old' });
  expect(ending?.status?.conditions).toMatchObject([
    { type: 'Ready', status: 'False', reason: 'Terminating' },
  ]);
  store.put('networking.k8s.io', 'servicecidrs', cidr('new', ['10.0.0.0/16'], ready));
  expect(await act()).toBeUndefined();
  expect(await client.get(SERVICE_CIDRS, { name: 'old' })).toBeUndefined();
});

test('the record of an address goes with the service, or with its next address', async () => {
  const { client, store } = setUp();
  const records = new AddressRecords({ client, onError: () => {} });
  const put = (clusterIPs: string[]): void =>
    store.put('', 'services', {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { namespace: 'shop', name: 'web' },
      spec: { clusterIPs },
    });
  const note = async (type: 'ADDED' | 'MODIFIED' | 'DELETED') => {
    const [entry] = await client.entries({ group: '', resource: 'services' });
    await records.note({ type, entry: entry as Entry, revision: (entry as Entry).revision });
    return (await client.list(IP_ADDRESSES)).map(({ metadata }) => metadata.name);
  };
  put(['10.0.0.3', 'fd00::3']);
  expect(await note('ADDED')).toEqual(['10.0.0.3', 'fd00::3']);
  put(['10.0.0.4']);
  expect(await note('MODIFIED')).toEqual(['10.0.0.4']);
  put(['None']);
  expect(await note('MODIFIED')).toEqual([]);
  put(['10.0.0.4']);
  await note('MODIFIED');
  store.drop('', 'services', { namespace: 'shop', name: 'web' });
  await records.sweep();
  expect(await client.list(IP_ADDRESSES)).toEqual([]);
});
