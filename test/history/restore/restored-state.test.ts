import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../../src/api/object-meta.ts';
import { changesBetween } from '../../../src/history/changes.ts';
import { parsePath, takeOver } from '../../../src/history/restore/restored-paths.ts';
import {
  giveUp,
  type Traits,
  toCreate,
  toUpdate,
  whyNot,
} from '../../../src/history/restore/restored-state.ts';
import { atOnce } from '../../../src/util/turns.ts';

const traits = (resource: string, group = '', hasStatus = true): Traits => ({ group, resource, hasStatus });

const WIDGETS = traits('widgets', 'example.com');

const object = (metadata: JsonObject, rest: JsonObject = {}): ApiObject => ({
  ...{ kind: 'Widget', apiVersion: 'v1', metadata: { name: 'a', uid: 'u', ...metadata } },
  ...rest,
});

describe('a live object', () => {
  test('gets back its own fields, labels and annotations', () => {
    const then = object(
      { labels: { a: '1' }, annotations: { b: '2' } },
      { spec: { x: 1 }, data: { k: 'v' } },
    );
    const live = object({ labels: { c: '3' } }, { spec: { x: 2, y: 3 }, more: true });
    expect(toUpdate(live, then, WIDGETS)).toEqual(then);
  });

  test('keeps what only the server says, what it is now, and what controllers have made of it', () => {
    const live = object(
      {
        resourceVersion: '7',
        generation: 3,
        finalizers: ['example.com/held'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Widget', name: 'o', uid: 'o' }],
        annotations: { 'deployment.kubernetes.io/revision': '4' },
      },
      { status: { phase: 'Now' } },
    );
    const then = object(
      { generation: 1, annotations: { 'deployment.kubernetes.io/revision': '1', mine: 'x' } },
      { spec: { x: 1 }, status: { phase: 'Then' } },
    );
    const annotations = { 'deployment.kubernetes.io/revision': '4', mine: 'x' };
    expect(toUpdate(live, then, WIDGETS)).toEqual({
      ...live,
      metadata: { ...live.metadata, annotations },
      spec: { x: 1 },
    });
  });

  test('has the status of then where that is a field like any other', () => {
    const updated = toUpdate(
      object({}, { status: { phase: 'Now' } }),
      object({}, { status: { phase: 'Then' } }),
      traits('widgets', 'example.com', false),
    );
    expect(updated.status).toEqual({ phase: 'Then' });
  });

  test('keeps the address, node and volume that it has, and a namespace its finalizers', () => {
    const kept: readonly (readonly [Traits, JsonObject])[] = [
      [traits('services'), { clusterIP: 'now', clusterIPs: ['now'] }],
      [traits('pods'), { nodeName: 'now' }],
      [traits('persistentvolumeclaims'), { volumeName: 'now' }],
      [traits('namespaces'), { finalizers: ['kubernetes'] }],
    ];
    for (const [of, spec] of kept) {
      const then = Object.fromEntries(Object.keys(spec).map((field) => [field, 'then']));
      expect(toUpdate(object({}, { spec }), object({}, { spec: then }), of).spec).toEqual(spec);
    }
  });

  test('that is another one of the name keeps the selector of its own pods', () => {
    const job = (uid: string, image: string) =>
      object(
        { uid },
        {
          spec: {
            selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
            template: { metadata: { labels: { 'controller-uid': uid, app: image } }, spec: { image } },
          },
        },
      );
    const updated = toUpdate(job('now', 'b'), job('then', 'a'), traits('jobs', 'batch'));
    expect(updated).toEqual({
      ...job('now', 'a'),
      spec: { ...(job('now', 'a').spec as JsonObject) },
    });
  });
});

describe('an object that is made anew', () => {
  test('has what its creator could have written, and nothing of the one before', () => {
    const then = object(
      {
        namespace: 'ns',
        labels: { a: '1' },
        annotations: { mine: 'x', 'pv.kubernetes.io/bind-completed': 'yes' },
        finalizers: ['example.com/held', 'foregroundDeletion'],
        resourceVersion: '7',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        deletionGracePeriodSeconds: 0,
        managedFields: [{ manager: 'm' }],
      },
      { spec: { x: 1 }, status: { phase: 'Then' } },
    );
    expect(toCreate(then, WIDGETS)).toEqual({
      kind: 'Widget',
      apiVersion: 'v1',
      metadata: {
        ...{ name: 'a', namespace: 'ns', labels: { a: '1' }, annotations: { mine: 'x' } },
        finalizers: ['example.com/held'],
      },
      spec: { x: 1 },
    });
  });

  test('as a job finds its pods by its own uid, unless its author chose how', () => {
    const spec = {
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      template: { metadata: { labels: { 'controller-uid': 'u', 'job-name': 'a', app: 'x' } } },
    };
    const made = toCreate(object({}, { spec }), traits('jobs', 'batch'));
    expect(made.spec).toEqual({ template: { metadata: { labels: { app: 'x' } } } });
    const manual = { ...spec, manualSelector: true };
    expect(toCreate(object({}, { spec: manual }), traits('jobs', 'batch')).spec).toEqual(manual);
  });

  test('gives up what another one has now, and says so', () => {
    const service = object(
      {},
      {
        spec: {
          clusterIP: '10.0.0.1',
          clusterIPs: ['10.0.0.1'],
          ports: [{ nodePort: 30000 }, { nodePort: 30001 }],
        },
      },
    );
    expect(giveUp(service, ['spec.clusterIPs', 'spec.ports[1].nodePort'])).toEqual([
      'spec.clusterIPs 10.0.0.1',
      'spec.ports[1].nodePort 30001',
    ]);
    expect(service.spec).toEqual({ ports: [{ nodePort: 30000 }, {}] });
  });
});

test('paths of what only the server writes are refused', () => {
  const why = (text: string, of = WIDGETS) => whyNot(parsePath(text) ?? [], of);
  for (const text of [
    'kind',
    'apiVersion',
    'metadata',
    'metadata.uid',
    'metadata.managedFields',
    'status.phase',
    '[0]',
  ])
    expect(why(text), text).toBeTypeOf('string');
  for (const text of [
    'spec',
    'data["a b"]',
    'metadata.labels.a',
    'metadata.finalizers',
    'metadata.annotations["a/b"]',
  ])
    expect(why(text), text).toBeUndefined();
  expect(why('status.phase', traits('widgets', 'example.com', false))).toBeUndefined();
});

/** Objects as they change: fields come and go, elements of lists too, in the same order. */
const names = fc.constantFrom('a', 'b', 'c', 'd.e/f');
const scalars = fc.oneof(fc.string(), fc.integer(), fc.boolean());
const elements = fc
  .uniqueArray(fc.record({ name: names, image: scalars, args: fc.array(scalars, { maxLength: 2 }) }), {
    selector: ({ name }) => name,
  })
  .map((list) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
const maps = fc.dictionary(names, fc.string());
const states = fc.record(
  {
    spec: fc.record(
      { list: elements, plain: fc.array(scalars), deep: fc.dictionary(names, maps) },
      { requiredKeys: [] },
    ),
    data: maps,
    labels: maps,
  },
  { requiredKeys: [] },
);

test('restoring every path that changed is restoring the whole', () => {
  fc.assert(
    fc.property(states, states, (one, other) => {
      const [then, live] = [one, other].map(({ labels, ...rest }) =>
        object(labels === undefined ? {} : { labels }, structuredClone(rest) as JsonObject),
      );
      if (then === undefined || live === undefined) return;
      const { changes } = atOnce(changesBetween(live, then));
      const paths = changes.map(({ path }) => parsePath(path) ?? []);
      const byPaths = structuredClone(live);
      expect(atOnce(takeOver(byPaths, then, paths)).size).toBe(0);
      expect(byPaths).toEqual(toUpdate(live, then, WIDGETS));
    }),
  );
});
