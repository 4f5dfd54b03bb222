import { expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { toScale } from '../../src/custom-resources/custom-scale.ts';
import { readForChange } from '../../src/registry/resource-definition.ts';

const view = (() => {
  const made = toScale({
    subresources: {
      scale: {
        specReplicasPath: '.spec.pool.size',
        statusReplicasPath: '.status.pool.ready',
        labelSelectorPath: '.status.selector',
      },
    },
  });
  if (made === undefined) throw new Error('no scale');
  return made;
})();

const METADATA = { name: 'w', namespace: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: 't' };

const objectOf = (rest: JsonObject): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { ...METADATA, labels: { a: 'b' }, generation: 2 },
  ...rest,
});

function statusOf(work: () => unknown): object {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
  }
  throw new Error('there was no StatusError');
}

test('only a version that says where its replicas stand has a scale', () => {
  expect(toScale({})).toBeUndefined();
  expect(toScale({ subresources: { status: {} } })).toBeUndefined();
});

test('a scale shows the values where the definition says, and the metadata that it has', () => {
  const parent = objectOf({
    spec: { pool: { size: 3 } },
    status: { pool: { ready: 2 }, selector: 'app=web' },
  });
  expect(view.read(parent)).toEqual({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: METADATA,
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'app=web' },
  });
});

test('an absent count is 0, and an absent selector is left out', () => {
  const none = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: METADATA, status: { replicas: 0 } };
  expect(view.read(objectOf({ spec: { pool: { size: 0 } } }))).toEqual({ ...none, spec: {} });
  expect(view.read(objectOf({ spec: { pool: { size: 0 } }, status: null }))).toEqual({ ...none, spec: {} });
});

test('integers are those of 32 bits', () => {
  const read = (size: number | bigint) => view.read(objectOf({ spec: { pool: { size } } })).spec;
  expect(read(2 ** 31)).toEqual({ replicas: -(2 ** 31) });
  expect(read(2n ** 62n + 5n)).toEqual({ replicas: 5 });
});

test.each<[JsonObject]>([[{}], [{ spec: null }], [{ spec: {} }], [{ spec: { pool: {} } }]])(
  'replicas that are not there are an error for a reader: %j',
  (rest) => {
    expect(statusOf(() => view.read(objectOf(rest)))).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: the spec replicas field ".spec.pool.size" does not exist',
    });
  },
);

test.each<[JsonObject, string]>([
  [
    { spec: { pool: { size: '3' } } },
    '.spec.pool.size accessor error: 3 is of the type string, expected int64',
  ],
  [
    { spec: { pool: { size: 2.5 } } },
    '.spec.pool.size accessor error: 2.5 is of the type float64, expected int64',
  ],
  [
    { spec: { pool: { size: null } } },
    '.spec.pool.size accessor error: <nil> is of the type <nil>, expected int64',
  ],
  [
    { spec: { pool: [1] } },
    '.spec.pool.size accessor error: [1] is of the type []interface {}, expected map[string]interface{}',
  ],
  [
    { spec: { pool: { size: 1 } }, status: { selector: { a: 'b' } } },
    '.status.selector accessor error: map[a:b] is of the type map[string]interface {}, expected string',
  ],
])('a value of another type is named: %j', (rest, message) => {
  expect(statusOf(() => view.read(objectOf(rest)))).toMatchObject({ code: 500, message });
});

test('a write changes the replicas and nothing else, and leaves the old object alone', () => {
  const old = objectOf({ spec: { pool: { size: 3, kind: 'x' }, other: 1 }, status: { pool: { ready: 2 } } });
  const before = structuredClone(old);
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'w', resourceVersion: '6', uid: 'u2', labels: { c: 'd' } },
    spec: { replicas: 5 },
    status: { replicas: 99 },
  };
  expect(view.write(scale, old)).toEqual({
    ...before,
    metadata: { ...before.metadata, resourceVersion: '6', uid: 'u2' },
    spec: { pool: { size: 5, kind: 'x' }, other: 1 },
  });
  expect(old).toEqual(before);
});

test('a written scale without replicas is one of 0, and objects on the way are made', () => {
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {}, spec: {} };
  expect(view.write(scale, objectOf({}))).toEqual(objectOf({ spec: { pool: { size: 0 } } }));
});

test('a patch that leaves replicas unset which never were set is refused', () => {
  const shown = readForChange(view, objectOf({ spec: { other: 1 } }));
  expect(statusOf(() => view.write(shown, objectOf({})))).toMatchObject({
    code: 400,
    reason: 'BadRequest',
    message: 'the spec replicas field ".spec.pool.size" cannot be empty',
  });
  const patched = { ...shown, spec: { replicas: 2 } };
  expect(view.write(patched, objectOf({ spec: { other: 1 } })).spec).toEqual({ other: 1, pool: { size: 2 } });
});

test('a place that is taken by something else is an error', () => {
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {}, spec: { replicas: 1 } };
  expect(statusOf(() => view.write(scale, objectOf({ spec: { pool: null } })))).toMatchObject({
    code: 500,
    message: 'value cannot be set because .spec.pool is not a map[string]interface{}',
  });
});

test('an applied scale owns the replicas of the parent, where they stand', () => {
  expect(view.toParent?.({ spec: { replicas: 4 }, status: { replicas: 1 } })).toEqual({
    spec: { pool: { size: 4 } },
  });
  expect(view.toParent?.({ spec: {} })).toEqual({});
});

test('a path may name what a prototype has', () => {
  const odd = toScale({
    subresources: {
      scale: { specReplicasPath: '.spec.__proto__.n', statusReplicasPath: '.status.constructor' },
    },
  });
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {}, spec: { replicas: 4 } };
  const written = odd?.write(scale, objectOf({}));
  expect(JSON.stringify(written?.spec)).toBe('{"__proto__":{"n":4}}');
  expect(({} as JsonObject).n).toBeUndefined();
  expect(written && odd?.read(written)).toMatchObject({ spec: { replicas: 4 }, status: { replicas: 0 } });
});
