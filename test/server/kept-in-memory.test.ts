import { expect, test } from 'vitest';
import { storageOf } from '../../src/server/built-in-names.ts';
import { planCaching } from '../../src/server/kept-in-memory.ts';
import { includes, within, without } from '../../src/storage/resource-set.ts';

const PODS = { group: '', resource: 'pods' };
const EVENTS = { group: '', resource: 'events' };
const NAMESPACES = { group: '', resource: 'namespaces' };
const WIDGETS = { group: 'example.com', resource: 'widgets' };
const ALL = [PODS, EVENTS, NAMESPACES, WIDGETS];

/** What is in memory, and what clients read from the log. */
function plan(watchCache: boolean, uncached: readonly (typeof PODS)[]) {
  const caching = planCaching({ watchCache, uncached }, (resource) => storageOf(resource) ?? resource);
  const { kept } = caching;
  return {
    kept: kept === undefined ? 'all' : ALL.filter((one) => includes(kept, one)),
    uncached: ALL.filter((one) => includes(caching.uncached, one)),
  };
}

test('everything is in memory unless a flag says otherwise', () => {
  expect(plan(true, [])).toEqual({ kept: 'all', uncached: [] });
});

test('a resource of size 0 is in memory no more, unless the server itself asks for it at each request', () => {
  expect(plan(true, [PODS, NAMESPACES])).toEqual({
    kept: [EVENTS, NAMESPACES, WIDGETS],
    uncached: [PODS, NAMESPACES],
  });
});

test('a name of another group means what it is stored as', () => {
  expect(plan(true, [{ group: 'events.k8s.io', resource: 'events' }]).uncached).toEqual([EVENTS]);
});

test('without a watch cache clients read everything from the log, custom resources too', () => {
  expect(plan(false, [])).toEqual({ kept: [NAMESPACES], uncached: ALL });
});

test('of what is kept, another database has its resources, and the first one has the others', () => {
  const except = { kind: 'except', resources: [PODS] } as const;
  const only = { kind: 'only', resources: [NAMESPACES, EVENTS] } as const;
  const elsewhere = [EVENTS, PODS];
  const kept = (set: Parameters<typeof includes>[0] | undefined) =>
    ALL.filter((one) => set === undefined || includes(set, one));
  expect(kept(without(undefined, elsewhere))).toEqual([NAMESPACES, WIDGETS]);
  expect(kept(without(except, elsewhere))).toEqual([NAMESPACES, WIDGETS]);
  expect(kept(without(only, elsewhere))).toEqual([NAMESPACES]);
  expect(without(undefined, [])).toBeUndefined();
  expect(kept(within(undefined, elsewhere))).toEqual([PODS, EVENTS]);
  expect(kept(within(except, elsewhere))).toEqual([EVENTS]);
  expect(kept(within(only, elsewhere))).toEqual([EVENTS]);
});
