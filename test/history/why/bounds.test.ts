import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explain } from '../../../src/history/why/explain.ts';
import { LoggedPast, LoggedWrite } from '../../../src/history/why/logged-past.ts';
import { NO_REVISION, toRevision } from '../../../src/storage/revision.ts';
import { cases } from '../../kit/cases.ts';
import { ScriptedLog, toRow } from './scripted-log.ts';
import {
  type Author,
  controlledBy,
  controller,
  kubelet,
  operator,
  person,
  SCHEDULER,
  Script,
  type Spoken,
} from './scripted-past.ts';

const BYTES_OF_STEP = 32 * 1024 * 1024;

const ROWS_OF_STEP = 400;

const MOST_LINKS = 20;

/** For every log, explanations end, read little, and contain only objects that the caller may read. */

const AUTHORS: readonly Author[] = [
  person('ann'),
  SCHEDULER,
  kubelet('n1'),
  operator('widgets'),
  ...[
    'deployment-controller',
    'replicaset-controller',
    'statefulset-controller',
    'generic-garbage-collector',
    'namespace-controller',
    'horizontal-pod-autoscaler',
    'resourcequota-controller',
    'endpointslice-controller',
    'taint-eviction-controller',
  ].map(controller),
];

const KINDS: readonly [apiVersion: string, kind: string][] = [
  ['v1', 'Pod'],
  ['v1', 'Service'],
  ['v1', 'Namespace'],
  ['v1', 'Node'],
  ['v1', 'ResourceQuota'],
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'ReplicaSet'],
  ['apps/v1', 'StatefulSet'],
  ['discovery.k8s.io/v1', 'EndpointSlice'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['example.com/v1', 'Widget'],
];

const act = fc.record({
  author: fc.constantFrom(...AUTHORS),
  kind: fc.constantFrom(...KINDS),
  name: fc.constantFrom('a', 'b'),
  owner: fc.option(fc.nat(200), { nil: undefined }),
  ends: fc.constantFrom('stays', 'stays', 'stays', 'is to end', 'is gone'),
  replicas: fc.nat(3),
  observed: fc.nat(3),
  template: fc.nat(2),
});

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

function play(acts: readonly Act[]): Script {
  const log = new Script();
  for (const { author, kind, name, owner, ends, replicas, observed, template } of acts) {
    const of = owner === undefined ? undefined : log.writes[owner % Math.max(1, log.writes.length)];
    const object: Spoken = {
      ...{ apiVersion: kind[0], kind: kind[1] },
      metadata: {
        name,
        ...(of === undefined ? {} : controlledBy(of)),
        ...(ends === 'is to end' ? { deletionTimestamp: '2026-01-31T00:00:00Z' } : {}),
      },
      spec: { replicas, nodeName: name, template, scaleTargetRef: { kind: 'Deployment', name } },
      status: { observedGeneration: observed, replicas: observed, used: { pods: `${observed}` } },
    };
    const write = log.put(author, object);
    if (ends === 'is gone') log.remove(author, write);
  }
  return log;
}

test('every explanation goes back in order, ends, reads a bounded number of rows, and names nothing that is hidden', async () => {
  const logs = fc.array(act, { minLength: 1, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(logs, fc.constantFrom(...KINDS), async (acts, [, hidden]) => {
      const script = play(acts);
      const log = new ScriptedLog(script);
      for (const row of script.writes.slice(-5)) {
        log.rowsRead = 0;
        const write = new LoggedWrite(toRow(row));
        const { links, unknown } = await explain(write, {
          past: () => log.past(),
          mayRead: async ({ is }) => is?.kind !== hidden,
        });
        const revisions = links.map((link) => link.write.revision);
        expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => (a > b ? -1 : 1)));
        expect(links.length).toBeLessThanOrEqual(MOST_LINKS);
        expect(log.rowsRead).toBeLessThanOrEqual(links.length * ROWS_OF_STEP);
        expect(
          links.slice(1).every((link) => link.evidence.length > 0 && link.confidence !== undefined),
        ).toBe(true);
        expect(links.slice(1).filter((link) => link.write.is?.kind === hidden)).toEqual([]);
        const last = links.at(-1)?.write;
        expect(unknown === undefined).toBe(last?.user === 'ann');
      }
    }),
    { numRuns: cases(150) },
  );
});

test('an answer far back in a long history is not looked for without end, and the words say so', async () => {
  const script = new Script();
  const owner = script.put(person('ann'), {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: {},
  });
  for (let at = 0; at < 2 * ROWS_OF_STEP; at += 1)
    script.change(operator('widgets'), owner, { status: { at } });
  const pod = script.put(operator('widgets'), {
    kind: 'Pod',
    metadata: { name: 'p', ...controlledBy(owner) },
  });
  const log = new ScriptedLog(script);
  const { links, unknown } = await explain(pod, { past: () => log.past(), mayRead: async () => true });
  expect(links).toHaveLength(1);
  expect(unknown).toContain(`${ROWS_OF_STEP} revisions`);
  expect(log.rowsRead).toBeLessThanOrEqual(ROWS_OF_STEP);
});

test('of large objects fewer states are read', async () => {
  const script = new Script();
  const spec = { text: 'x'.repeat(2.5 * 1024 * 1024) };
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec };
  const owner = script.put(person('ann'), object);
  for (let at = 0; at < 12; at += 1) script.change(operator('widgets'), owner, { status: { at } });
  const metadata = { name: 'p', ...controlledBy(owner) };
  const pod = script.put(operator('widgets'), { kind: 'Pod', metadata });
  const log = new ScriptedLog(script);
  const { unknown } = await explain(pod, { past: () => log.past(), mayRead: async () => true });
  expect(unknown).toContain(`${BYTES_OF_STEP / 1024 / 1024} MB`);
  expect(log.rowsRead).toBeLessThan(12);
});

test('a chain that is longer than the limit ends, and says where to ask on', async () => {
  const script = new Script();
  let owner = script.put(person('ann'), {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
  });
  for (let at = 0; at < 2 * MOST_LINKS; at += 1) {
    const metadata = { name: `w-${at}`, ...controlledBy(owner) };
    owner = script.put(operator('widgets'), { apiVersion: 'example.com/v1', kind: 'Widget', metadata });
  }
  const { links, unknown } = await script.why(owner);
  expect(links).toHaveLength(MOST_LINKS);
  expect(unknown).toContain('ask why of the last');
});

test('a write that is compacted during the search is reported as not kept', async () => {
  const script = new Script();
  const owner = script.put(person('ann'), {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: {},
  });
  const pod = script.put(operator('widgets'), {
    kind: 'Pod',
    metadata: { name: 'p', ...controlledBy(owner) },
  });
  const log = new ScriptedLog(script);
  log.compacted = toRevision(owner.revision);
  const { unknown } = await explain(pod, { past: () => log.past(), mayRead: async () => true });
  expect(unknown).toContain('not in the history that is kept');
});

test('the reading ends when the caller is gone', async () => {
  const script = new Script();
  const log = new ScriptedLog(script);
  const past = new LoggedPast({
    ...{ history: log, begin: { revision: NO_REVISION, at: undefined }, find: script.past().find },
    signal: AbortSignal.abort(new Error('gone')),
  });
  const key = { group: '', resource: 'pods', namespace: 'default', name: 'p' };
  await expect(
    past
      .ofName(key, { before: toRevision(9) })
      [Symbol.asyncIterator]()
      .next(),
  ).rejects.toThrow('gone');
});
