import { expect, test } from 'vitest';
import { LEASES } from '../../src/api/known-resources.ts';
import type { Lease } from '../../src/api/types/coordination/v1.ts';
import type { LeaseCandidate } from '../../src/api/types/coordination/v1alpha1.ts';
import type { LeaseCandidate as NewerCandidate } from '../../src/api/types/coordination/v1beta1.ts';
import {
  bestOf,
  CANDIDATES,
  electedLease,
  firstStrategy,
  LeaderElections,
  nextStep,
} from '../../src/controllers/leader-election.ts';
import { leases } from '../../src/resources/coordination/lease.ts';
import { alphaLeaseCandidates } from '../../src/resources/coordination/lease-candidate.ts';
import { createTestClient } from '../kit/client.ts';

const NOW = new Date('2026-02-02T12:00:00Z');
const at = (seconds: number): string => new Date(NOW.getTime() + seconds * 1000).toISOString();

interface Said {
  readonly version?: string;
  readonly binary?: string;
  readonly renewed?: number;
  readonly pinged?: number;
  readonly strategies?: string[];
}

const candidate = (name: string, said: Said = {}): LeaseCandidate => {
  const { version = '1.31.0', binary = version, renewed = 0, pinged, strategies } = said;
  return {
    kind: 'LeaseCandidate',
    apiVersion: 'coordination.k8s.io/v1alpha1',
    metadata: { name, namespace: 'kube-system', creationTimestamp: at(-3600) },
    spec: {
      leaseName: 'scheduler',
      emulationVersion: version,
      binaryVersion: binary,
      renewTime: at(renewed),
      preferredStrategies: strategies ?? ['OldestEmulationVersion'],
      ...(pinged === undefined ? {} : { pingTime: at(pinged) }),
    },
  };
};

const lease = (spec: Lease['spec'] & object): Lease => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'scheduler', namespace: 'kube-system' },
  spec,
});
const held = (holderIdentity: string): Lease =>
  lease({ holderIdentity, leaseDurationSeconds: 15, renewTime: at(-1) });

const step = (current: Lease | undefined, ...candidates: LeaseCandidate[]) =>
  nextStep(current, candidates, NOW.getTime());
const electing = (holder: string) => ({ kind: 'elect', holder, strategy: 'OldestEmulationVersion' });

test('the oldest emulated version leads, then the oldest program, then the one that was there first', () => {
  const best = (...all: LeaseCandidate[]): string | undefined => bestOf(all)?.metadata.name;
  expect(best(candidate('new', { version: '1.31.0' }), candidate('old', { version: '1.30.0' }))).toBe('old');
  expect(
    best(
      candidate('new', { version: '1.30.0', binary: '1.32.0' }),
      candidate('old', { version: '1.30.0', binary: '1.31.0' }),
    ),
  ).toBe('old');
  const late = candidate('late');
  late.metadata.creationTimestamp = at(-60);
  expect(best(late, candidate('early'))).toBe('early');
});

test('since 1.32 the newest program decides on the strategy, and nothing is elected while two of those differ', () => {
  const later = (name: string, version: string, strategy = 'OldestEmulationVersion'): NewerCandidate => ({
    kind: 'LeaseCandidate',
    apiVersion: 'coordination.k8s.io/v1beta1',
    metadata: { name, creationTimestamp: at(-60) },
    spec: { leaseName: 'scheduler', binaryVersion: version, emulationVersion: version, strategy },
  });
  const best = (...all: NewerCandidate[]): string | undefined => bestOf(all)?.metadata.name;
  expect(best(later('new', '1.34.0'), later('old', '1.33.0'))).toBe('old');
  expect(best(later('new', '1.34.0'), later('old', '1.33.0', 'example.com/mine'))).toBe('old');
  expect(best(later('new', '1.34.0', 'example.com/mine'), later('old', '1.33.0'))).toBeUndefined();
  expect(best(later('a', '1.34.0'), later('b', '1.34.0', 'example.com/mine'))).toBeUndefined();
});

test('the strategy of candidates is the one that fits all of their preferences', () => {
  const wishes = (...lists: string[][]): string | undefined =>
    firstStrategy(lists.map((strategies, index) => candidate(`c${index}`, { strategies })));
  expect(wishes(['a', 'b'], ['b', 'c'])).toBe('a');
  expect(wishes(['a'], ['b'])).toBeUndefined();
  expect(wishes(['a', 'b'], ['b', 'a'])).toBeUndefined();
  expect(wishes(['x', 'a', 'b'], ['b', 'a'])).toBeUndefined();
  expect(bestOf([candidate('a', { strategies: ['example.com/mine'] })])).toBeUndefined();
});

test('a free lease goes to the best candidate that is there', () => {
  const [old, young] = [candidate('old', { version: '1.30.0' }), candidate('young')];
  expect(step(undefined, young, old)).toEqual(electing('old'));
  expect(step(lease({}), young)).toEqual(electing('young'));
  expect(step(lease({ holderIdentity: 'gone', leaseDurationSeconds: 5, renewTime: at(-6) }), young)).toEqual(
    electing('young'),
  );
  expect(step(held('old'), young, old)).toEqual({ kind: 'wait' });
});

test('who was silent is asked, and votes only when it answers in time', () => {
  const silent = candidate('silent', { renewed: -60, version: '1.29.0' });
  const [asked, late] = [-2, -6].map((pinged) => candidate('silent', { renewed: -60, pinged }));
  expect(step(undefined, candidate('there'), silent)).toEqual({ kind: 'ping', candidates: [silent] });
  expect(step(undefined, candidate('there'), asked as LeaseCandidate)).toEqual({ kind: 'wait' });
  expect(step(undefined, candidate('there'), late as LeaseCandidate)).toEqual(electing('there'));
  const answered = candidate('silent', { renewed: -1, pinged: -2, version: '1.29.0' });
  expect(step(undefined, candidate('there'), answered)).toEqual(electing('silent'));
});

test('a better candidate is preferred, and said once', () => {
  const better = candidate('better', { version: '1.30.0' });
  expect(step(held('present'), candidate('present'), better)).toEqual(electing('better'));
  const elected = electedLease(held('present'), { holder: 'better', strategy: 's' }, NOW);
  expect(elected.spec).toMatchObject({ holderIdentity: 'present', preferredHolder: 'better', strategy: 's' });
  expect(step(elected, candidate('present'), better)).toEqual({ kind: 'wait' });
});

test('a strategy of others is written into the lease, whose holder they choose', () => {
  const mine = { strategies: ['example.com/mine'] };
  const choice = { kind: 'elect', strategy: 'example.com/mine' } as const;
  expect(step(undefined, candidate('a', mine), candidate('b', mine))).toEqual(choice);
  const { spec: _, ...unheld } = lease({});
  const made = electedLease(unheld, choice, NOW);
  expect(made.spec).toEqual({
    strategy: 'example.com/mine',
    leaseDurationSeconds: 5,
    renewTime: '2026-02-02T12:00:00.000000Z',
  });
  expect(step(made, candidate('a', mine))).toEqual({ kind: 'wait' });
  const old = lease({ strategy: 'OldestEmulationVersion', leaseDurationSeconds: 5, holderIdentity: '' });
  expect(step(old, candidate('a', mine))).toEqual(choice);
  expect(electedLease(old, choice, NOW).spec).toEqual({ ...old.spec, strategy: 'example.com/mine' });
});

test('an elected holder is given a short term, in which it must take over', () => {
  const free = electedLease(
    lease({ preferredHolder: 'x', leaseTransitions: 2 }),
    { holder: 'x', strategy: 's' },
    NOW,
  );
  expect(free.metadata).toEqual({ name: 'scheduler', namespace: 'kube-system' });
  expect(free.spec).toEqual({
    holderIdentity: 'x',
    strategy: 's',
    leaseDurationSeconds: 5,
    leaseTransitions: 2,
    renewTime: '2026-02-02T12:00:00.000000Z',
  });
});

test('a round elects, pings and forgets', async () => {
  const { client, store } = createTestClient({ definitions: [leases, alphaLeaseCandidates] });
  let now = NOW;
  const elections = new LeaderElections({ client, now: () => now, onError: () => {} });
  const put = (one: LeaseCandidate): void => store.put('coordination.k8s.io', 'leasecandidates', one);
  put(candidate('there'));
  put(candidate('silent', { renewed: -60 }));
  put(candidate('lost', { renewed: -1801 }));
  store.catchUp();
  await elections.round();
  const find = (name: string) => client.get(CANDIDATES, { namespace: 'kube-system', name });
  expect((await find('silent'))?.spec?.pingTime).toBe('2026-02-02T12:00:00.000000Z');
  expect((await find('there'))?.spec?.pingTime).toBeUndefined();
  expect(await find('lost')).toBeUndefined();
  now = new Date(at(5));
  put(candidate('there', { renewed: 4 }));
  store.catchUp();
  await elections.round();
  const won = await client.get(LEASES, { namespace: 'kube-system', name: 'scheduler' });
  expect(won?.spec).toMatchObject({ holderIdentity: 'there', strategy: 'OldestEmulationVersion' });
});
