import { expect, test } from 'vitest';
import { estimateWork } from '../../src/flow-control/request-cost.ts';
import { WatchCounts } from '../../src/flow-control/watch-counts.ts';
import type { ResourceTarget } from '../../src/request/api-request.ts';
import { type RequestInit, toRequest } from './kit.ts';

interface Around {
  readonly objects?: number | undefined;
  readonly watches?: number;
  readonly widest?: number;
  readonly watchList?: boolean;
}

function estimate(init: RequestInit, around: Around, target: Partial<ResourceTarget> = {}) {
  const { objects, watches = 0, widest = 10, watchList = true } = around;
  return estimateWork(toRequest(init, target), widest, {
    countObjects: () => objects,
    countWatches: () => watches,
    watchList,
  });
}

test.each<[string, string, number | undefined, number]>([
  ['of nothing', '', 0, 1],
  ['of a few', '', 100, 1],
  ['of many', '', 250, 3],
  ['of very many', '', 100_000, 10],
  ['of what is not kept here', '', undefined, 1],
  ['of a chunk', 'limit=500', 100_000, 5],
  ['of a chunk larger than everything', 'limit=500', 120, 2],
  ['of a chunk by a selector, which looks at everything', 'limit=1&labelSelector=a%3Db', 700, 7],
  ['of a later chunk, which is read from the past', 'limit=100&continue=x', 100_000, 2],
  ['of a later chunk by a selector', 'limit=100&continue=x&fieldSelector=a%3Db', 300, 4],
  ['of an exact revision', 'resourceVersion=5&resourceVersionMatch=Exact', 150, 3],
  ['of the past', 'asOf=2026-01-01T00:00:00Z', 150, 3],
  ['with a limit that is no number', 'limit=many', 250, 3],
])('a list %s takes its seats', (_, query, objects, seats) => {
  expect(estimate({ verb: 'list', query }, { objects })).toEqual({
    initialSeats: seats,
    finalSeats: 0,
    extraMs: 0,
  });
});

test('a list takes no more seats than its level gives a request, and one of a single name takes one', () => {
  expect(estimate({ verb: 'list' }, { objects: 5000, widest: 4 }).initialSeats).toBe(4);
  expect(estimate({ verb: 'list' }, { objects: 5000 }, { name: 'it' }).initialSeats).toBe(1);
});

test('a watch costs as much as a list when it begins with one', () => {
  const init = { verb: 'watch', query: 'sendInitialEvents=true' };
  expect(estimate(init, { objects: 450 }).initialSeats).toBe(5);
  expect(estimate(init, { objects: 450, watchList: false }).initialSeats).toBe(1);
  expect(estimate({ verb: 'watch' }, { objects: 450 }).initialSeats).toBe(1);
});

test('a write costs what telling its watches costs, after it was answered', () => {
  const write = { verb: 'update' };
  expect(estimate(write, { watches: 9 })).toMatchObject({ initialSeats: 1, finalSeats: 0, extraMs: 0 });
  expect(estimate(write, { watches: 25 })).toMatchObject({ initialSeats: 1, finalSeats: 3, extraMs: 5 });
  // 100 seats for 5 ms become 10 seats for 50 ms.
  expect(estimate(write, { watches: 1000 })).toMatchObject({ initialSeats: 1, finalSeats: 10, extraMs: 50 });
  const token = { resource: 'serviceaccounts', subresource: 'token' };
  expect(estimate({ verb: 'create' }, { watches: 1000 }, token).finalSeats).toBe(0);
});

test('a restore takes the seats of the many writes that it may be', () => {
  const restores = { group: 'history.cluster.io', resource: 'restores' };
  const wide = { initialSeats: 10, finalSeats: 0, extraMs: 0 };
  expect(estimate({ verb: 'create' }, {}, restores)).toEqual(wide);
  expect(estimate({ verb: 'create' }, { widest: 4 }, restores)).toEqual({ ...wide, initialSeats: 4 });
  expect(estimate({ verb: 'create' }, {}, { ...restores, group: 'velero.io' }).initialSeats).toBe(1);
});

test.each<[string, string, string, Partial<ResourceTarget>, number]>([
  ['a blame', 'get', '', { resource: 'blames', name: 'x' }, 10],
  ['an explanation', 'get', '', { resource: 'revisions', name: '7', subresource: 'why' }, 5],
  ['a timeline', 'get', '', { resource: 'timelines', name: 'x' }, 10],
  ['a page of a timeline', 'get', 'limit=120', { resource: 'timelines', name: 'x' }, 3],
  ['a list of revisions', 'list', '', { resource: 'revisions' }, 10],
  ['a page of revisions', 'list', 'limit=60', { resource: 'revisions' }, 2],
  ['one revision', 'get', '', { resource: 'revisions', name: '7' }, 1],
  ['a watch of revisions', 'watch', '', { resource: 'revisions' }, 1],
])('%s takes the seats of the rows that it reads', (_, verb, query, target, seats) => {
  const asked = { group: 'history.cluster.io', ...target };
  expect(estimate({ verb, query }, {}, asked).initialSeats).toBe(seats);
  expect(estimate({ verb, query }, { widest: 2 }, asked).initialSeats).toBe(Math.min(seats, 2));
});

test('everything else takes one seat', () => {
  for (const init of [{ verb: 'get' }, { verb: 'deletecollection' }, { verb: 'get', path: '/version' }])
    expect(estimate(init, { objects: 5000, watches: 5000 })).toEqual({
      initialSeats: 1,
      finalSeats: 0,
      extraMs: 0,
    });
});

test('a write counts the watches of all namespaces, of its own, and of its object', () => {
  const counts = new WatchCounts(WatchCounts.allocate(0), 0);
  const target = (more: Partial<ResourceTarget>): ResourceTarget => {
    const found = toRequest({}, more).target;
    if (found === undefined) throw new Error('no target');
    return found;
  };
  const watch = (more: Partial<ResourceTarget>, query = '') =>
    counts.register(toRequest({ verb: 'watch', query }, more));
  watch({ namespace: '' });
  watch({});
  watch({ namespace: 'other' });
  const forget = watch({ name: 'it' });
  expect(counts.interestedIn(target({ name: 'it' }))).toBe(3);
  expect(counts.interestedIn(target({ name: 'else' }))).toBe(2);
  expect(counts.interestedIn(target({ resource: 'secrets' }))).toBe(0);
  forget();
  expect(counts.interestedIn(target({ name: 'it' }))).toBe(2);
});

test('watches of the pods of one node are not counted with every pod', () => {
  const counts = new WatchCounts(WatchCounts.allocate(0), 0);
  const pods = { resource: 'pods', namespace: '' };
  counts.register(toRequest({ verb: 'watch', query: 'fieldSelector=spec.nodeName%3Dn1' }, pods));
  counts.register(toRequest({ verb: 'watch', query: 'fieldSelector=spec.nodeName!%3Dn1' }, pods));
  counts.register(toRequest({ verb: 'watch', query: 'fieldSelector=%3D%3D%3D' }, pods));
  const { target } = toRequest({}, { resource: 'pods' });
  expect(target && counts.interestedIn(target)).toBe(2);
});
