import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { checkConfig } from '../../src/object/managed-fields/check-config.ts';
import {
  difference,
  type FieldSet,
  formatPath,
  pathsOf,
  setOf,
  union,
} from '../../src/object/managed-fields/field-set.ts';
import { fieldsOf } from '../../src/object/managed-fields/merge-config.ts';
import {
  ApplyConflict,
  applyInSteps,
  describeConflicts,
} from '../../src/object/managed-fields/server-side-apply.ts';
import { emptyObject, type Shape, shapeOfMessage } from '../../src/object/managed-fields/shape.ts';
import { trackUpdate, type Writing, withoutServerFields } from '../../src/object/managed-fields/track.ts';
import { atOnce } from '../../src/util/turns.ts';
import { RandomObjects } from '../codec/random-object.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const types = loadTypes();
const TIME = '2026-01-01T00:00:00Z';

/** An object of one type, written by several managers, as a server would keep it. */
class Written {
  readonly #type: string;
  readonly #shape: Shape;
  object: ApiObject | undefined;

  constructor(type: string, shape?: Shape) {
    this.#type = type;
    this.#shape = shape ?? shapeOfMessage(types.message(type));
  }

  #writing(manager: string, subresource = ''): Writing {
    const same = (objects: readonly JsonObject[]): readonly JsonObject[] => objects;
    const version = { apiVersion: 'v1', shape: this.#shape, convert: same, convertBack: same };
    return {
      manager,
      subresource,
      version,
      reset: setOf(),
      findVersion: (name) => (name === 'v1' ? version : undefined),
      now: TIME,
    };
  }

  #decode(object: JsonObject): ApiObject {
    if (this.#type === '') return object as ApiObject;
    const decoded = decodeObject(object, types.message(this.#type)).object;
    const stated = (object.metadata as JsonObject | undefined)?.managedFields;
    const reset = Array.isArray(stated) && stated.length === 0 ? { managedFields: [] } : {};
    return {
      ...decoded,
      metadata: { uid: 'u', ...(decoded.metadata as JsonObject), ...reset },
    } as JsonObject as ApiObject;
  }

  apply(manager: string, config: JsonObject, force = false): this {
    const empty = {
      ...structuredClone(this.#type === '' ? {} : emptyObject(types.message(this.#type))),
      metadata: {},
    };
    const live = this.object ?? (empty as ApiObject);
    this.object = this.#decode(
      atOnce(
        applyInSteps(live, { kind: 'K', apiVersion: 'v1', ...config }, this.#writing(manager), { force }),
      ),
    );
    return this;
  }

  update(manager: string, object: JsonObject, subresource = ''): this {
    const after = this.#decode({ kind: 'K', apiVersion: 'v1', ...object });
    trackUpdate(after, this.object, this.#writing(manager, subresource));
    this.object = after;
    return this;
  }

  /** `manager: .path .path`, a line an entry. */
  get owners(): string[] {
    return (this.object?.metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => {
      const paths = [...pathsOf(fieldsV1 as unknown as FieldSet)].map(formatPath);
      return `${operation} ${manager}: ${paths.join(' ')}`;
    });
  }

  get plain(): JsonObject {
    const { metadata, kind: _, apiVersion: __, ...rest } = this.object ?? { metadata: {} };
    const { managedFields: ___, uid: ____, creationTimestamp: _____, ...meta } = metadata as JsonObject;
    return { ...(Object.keys(meta).length > 0 ? { metadata: meta } : {}), ...rest };
  }
}

const configMap = (): Written => new Written('core/v1.ConfigMap');
const service = (): Written => new Written('core/v1.Service');

function conflictOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ApplyConflict) return describeConflicts(error.conflicts);
    throw error;
  }
  throw new Error('no conflict');
}

test('a field its manager does not apply any more goes, and one that another applies too stays', () => {
  const map = configMap();
  map.apply('a', { data: { one: '1', two: '2', three: '3' } });
  map.apply('b', { data: { two: '2' } });
  map.apply('a', { data: { one: '1' } });
  expect(map.plain).toEqual({ data: { one: '1', two: '2' } });
  expect(map.owners).toEqual(['Apply b: .data.two', 'Apply a: .data.one']);
});

test('an apply that changes the ownership alone keeps its time, and a new owner has none', () => {
  const map = configMap();
  const timesOf = (): unknown =>
    map.object?.metadata.managedFields?.map(({ manager, time }) => [manager, time]);
  map.apply('a', { data: { one: '1', two: '2' } });
  map.apply('b', { data: { two: '2' } });
  map.apply('b', { data: { one: '1', two: '2' } });
  expect(timesOf()).toEqual([
    ['b', undefined],
    ['a', TIME],
  ]);
  map.apply('b', { data: { one: '1', two: '2', three: '3' } });
  expect(timesOf()).toEqual([
    ['a', TIME],
    ['b', TIME],
  ]);
});

test('a field that another manager has updated since is its own, and stays when its first manager lets it go', () => {
  const map = configMap().apply('a', { data: { one: '1', two: '2' } });
  map.update('editor', { data: { one: 'edited', two: '2' } });
  expect(map.owners).toEqual(['Apply a: .data.two', 'Update editor: .data.one']);
  map.apply('a', { data: {} });
  expect(map.plain).toEqual({ data: { one: 'edited' } });
});

test('another value for a field of another manager is a conflict that names everything, and changes nothing', () => {
  const map = configMap().apply('a', { data: { one: '1', two: '2' } });
  const before = structuredClone(map.object);
  expect(conflictOf(() => map.apply('b', { data: { one: 'x', two: 'y', three: '3' } }))).toBe(
    'Apply failed with 2 conflicts: conflicts with "a":\n- .data.one\n- .data.two',
  );
  map.update('editor', { data: { one: '1', two: 'edited' } });
  expect(conflictOf(() => map.apply('b', { data: { two: 'y' } }))).toBe(
    'Apply failed with 1 conflict: conflict with "editor" using v1: .data.two',
  );
  expect(before?.data).toEqual({ one: '1', two: '2' });
});

test('the claim of a volume is merged field by field, unlike other references', () => {
  const volume = new Written('core/v1.PersistentVolume');
  const claimRef = { namespace: 'default', name: 'data' };
  volume.apply('a', { spec: { claimRef } });
  volume.update('binder', { spec: { claimRef: { ...claimRef, uid: 'u' } } });
  expect(volume.owners).toEqual([
    'Apply a: .spec.claimRef.name .spec.claimRef.namespace',
    'Update binder: .spec.claimRef.uid',
  ]);
});

test('a configuration that only takes ownership leaves the time of its manager as it was', () => {
  const map = configMap().update('editor', { data: { one: '1' } });
  const timeOf = (manager: string): string | undefined =>
    map.object?.metadata.managedFields?.find((entry) => entry.manager === manager)?.time;
  map.apply('a', { data: { one: '1' } });
  expect([timeOf('editor'), timeOf('a')]).toEqual([TIME, undefined]);
  map.apply('a', { data: { one: '1', two: '2' } });
  expect(timeOf('a')).toBe(TIME);
});

test('a field with the name of something every object has is written, lost and compared like any other', () => {
  const map = configMap().update('a', { data: { constructor: 'x', one: '1' } });
  map.update('b', { data: { one: '1' } });
  expect(map.owners).toEqual(['Update a: .data .data.one']);
  map.update('b', { data: { one: '1', constructor: 'x' } });
  expect(map.owners).toEqual(['Update a: .data .data.one', 'Update b: .data.constructor']);
});

test('force takes the field from its owner; the same value is shared', () => {
  const map = configMap()
    .apply('a', { data: { one: '1', two: '2' } })
    .apply('b', { data: { one: 'x', two: '2' } }, true);
  expect(map.plain.data).toEqual({ one: 'x', two: '2' });
  expect(map.owners).toEqual(['Apply a: .data.two', 'Apply b: .data.one .data.two']);
});

test('elements of a list have owners of their own, and are identified by their keys and the defaults of these', () => {
  const svc = service().apply('a', { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'UDP' }] } });
  expect(svc.owners[0]).toContain('.spec.ports[port=80,protocol="TCP"].port');
  svc.apply('b', { spec: { ports: [{ port: 443, name: 'tls' }] } });
  const ports = () => (svc.plain.spec as JsonObject).ports as JsonObject[];
  expect(ports().map(({ port, protocol }) => `${port}/${protocol}`)).toEqual(['80/TCP', '80/UDP', '443/TCP']);
  svc.apply('a', { spec: { ports: [{ port: 80, protocol: 'UDP' }] } });
  expect(ports().map(({ port, protocol }) => `${port}/${protocol}`)).toEqual(['80/UDP', '443/TCP']);
});

test('the claim of a volume is owned field by field, as other references are not', () => {
  const volume = new Written('core/v1.PersistentVolume');
  volume.update('binder', { spec: { claimRef: { name: 'c', namespace: 'n', uid: 'u' } } });
  volume.apply('user', { spec: { claimRef: { name: 'c', namespace: 'n' } } });
  expect(volume.plain).toMatchObject({ spec: { claimRef: { uid: 'u' } } });
  expect(volume.owners[0]).toBe('Apply user: .spec.claimRef.name .spec.claimRef.namespace');
});

test('a map or list that is one value is owned and replaced as one', () => {
  const svc = service().apply('a', { spec: { selector: { app: 'x', tier: 'y' } } });
  expect(svc.owners).toEqual(['Apply a: .spec.selector']);
  expect(conflictOf(() => svc.apply('b', { spec: { selector: { app: 'x' } } }))).toContain('.spec.selector');
  svc.apply('b', { spec: { selector: { app: 'z' } } }, true);
  expect((svc.plain.spec as JsonObject).selector).toEqual({ app: 'z' });
});

test('a list of scalars is a set', () => {
  const map = configMap()
    .apply('a', { metadata: { finalizers: ['x/a', 'x/b'] } })
    .apply('b', { metadata: { finalizers: ['x/b', 'x/c'] } });
  expect(map.owners).toEqual([
    'Apply a: .metadata.finalizers[="x/a"] .metadata.finalizers[="x/b"]',
    'Apply b: .metadata.finalizers[="x/b"] .metadata.finalizers[="x/c"]',
  ]);
  map.apply('a', {});
  expect(map.plain).toEqual({ metadata: { finalizers: ['x/b', 'x/c'] } });
});

test('shared elements take the order of the configuration, others keep their place', () => {
  const map = configMap().update('u', { metadata: { finalizers: ['x/a', 'x/b', 'x/c', 'x/d'] } });
  map.apply('a', { metadata: { finalizers: ['x/d', 'x/b'] } });
  expect(map.plain).toEqual({ metadata: { finalizers: ['x/a', 'x/c', 'x/d', 'x/b'] } });
  const other = configMap().update('u', { metadata: { finalizers: ['x/a', 'x/b'] } });
  other.apply('a', { metadata: { finalizers: ['x/new', 'x/b'] } });
  expect(other.plain).toEqual({ metadata: { finalizers: ['x/a', 'x/new', 'x/b'] } });
});

test('the creator owns the fields it set and the defaults, but no empty struct of the type', () => {
  const pod = new Written('core/v1.Pod').update('kubectl-run', {
    metadata: { labels: { run: 'x' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  expect(pod.owners[0]).toContain(
    '.metadata.labels .metadata.labels.run .spec.containers[name="c"] .spec.containers[name="c"].image',
  );
  expect(pod.owners[0]).toContain('.spec.dnsPolicy');
  expect(pod.owners[0]?.split(' ')).not.toContain('.spec');
  expect(pod.owners[0]?.split(' ')).not.toContain('.spec.containers');
});

test('a subresource has its own entry, and cannot change the others', () => {
  const pod = new Written('core/v1.Pod').update('creator', {
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  pod.update('agent', { ...pod.plain, metadata: { managedFields: [] }, status: { conditions } }, 'status');
  const [agent, creator] = pod.object?.metadata.managedFields ?? [];
  expect(creator).toMatchObject({ manager: 'creator', operation: 'Update' });
  expect(agent).toMatchObject({
    manager: 'agent',
    subresource: 'status',
    fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': {} } } },
  });
});

test('an empty list of owners resets them, an invalid list does not, and a valid list counts', () => {
  const map = configMap().update('a', { data: { one: '1' } });
  map.update('b', {
    data: { one: '1' },
    metadata: { managedFields: [{ manager: 'x', operation: 'Nonsense' }] },
  });
  expect(map.owners).toEqual(['Update a: .data .data.one']);
  const stated = [
    {
      manager: 'x',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:one': {} } },
    },
  ];
  map.update('b', { data: { one: '1' }, metadata: { managedFields: stated } });
  expect(map.owners).toEqual(['Update x: .data.one']);
  map.update('b', { data: { one: '1' }, metadata: { managedFields: [{}] } });
  expect(map.owners).toEqual([]);
  map.update('b', { data: { one: '2' } });
  expect(map.owners).toEqual([]);
});

test('of the entries that a client makes one owner, the last counts', () => {
  const map = configMap().update('a', { data: { one: '1', two: '2' } });
  const entry = (operation: string, apiVersion: string, field: string): JsonObject => ({
    ...{ manager: 'x', operation, apiVersion },
    ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { [field]: {} } } },
  });
  const managedFields = [
    entry('Apply', 'v1', 'f:one'),
    entry('Update', 'v1', 'f:two'),
    entry('Apply', 'v2', 'f:two'),
    entry('Update', 'v1', 'f:one'),
  ];
  map.update('b', { data: { one: '1', two: '2' }, metadata: { managedFields } });
  expect(map.owners).toEqual(['Update x: .data.one']);
});

test('fields from before the first apply conflict, too', () => {
  const map = configMap()
    .update('a', { data: { one: '1' } })
    .update('a', { data: { one: '1' }, metadata: { managedFields: [] } });
  expect(conflictOf(() => map.apply('b', { data: { one: '2' } }))).toContain('"before-first-apply" using v1');
});

test('kubectl takes over the fields that it applied on its own side, and no others', () => {
  const annotations = {
    [LAST_APPLIED]: JSON.stringify({ kind: 'K', apiVersion: 'v1', data: { one: '1', two: '2' } }),
  };
  const map = configMap().update('kubectl-client-side-apply', {
    metadata: { annotations },
    data: { one: '1', two: '2' },
  });
  map.apply('kubectl', { data: { one: '<x>' } });
  expect(map.plain.data).toEqual({ one: '<x>', two: '2' });
  expect(map.object?.metadata.annotations?.[LAST_APPLIED]).toBe(
    '{"apiVersion":"v1","data":{"one":"\\u003cx\\u003e"},"kind":"K"}\n',
  );
  map.update('editor', { ...map.plain, data: { one: '<x>', two: 'edited' } });
  expect(conflictOf(() => map.apply('kubectl', { data: { two: 'y' } }))).toContain('"editor"');
});

test('the oldest of many updaters become one', () => {
  const map = configMap().update('u00', { data: { k0: '1' } });
  for (let n = 1; n <= 14; n += 1)
    map.update(`u${String(n).padStart(2, '0')}`, {
      data: { ...(map.plain.data as JsonObject), [`k${n}`]: '1' },
    });
  expect(map.owners).toHaveLength(10);
  expect(map.owners[0]).toMatch(/^Update ancient-changes: /);
  const owned = (map.object?.metadata.managedFields ?? []).reduce<FieldSet>(
    (set, entry) => union(set, entry.fieldsV1 as unknown as FieldSet),
    {},
  );
  expect([...pathsOf(owned)].map(formatPath)).toContain('.data.k1');
});

test('objects of no known type have owners of their fields, and of lists as one', () => {
  const thing = new Written('', { kind: 'deduced' });
  thing.apply('a', { spec: { size: 1, list: [{ name: 'x' }] } }).apply('b', { spec: { colour: 'red' } });
  expect(thing.owners).toEqual(['Apply a: .spec .spec.list .spec.size', 'Apply b: .spec .spec.colour']);
  thing.apply('a', { spec: { list: [{ name: 'y' }] } });
  expect(thing.plain).toEqual({ spec: { list: [{ name: 'y' }], colour: 'red' } });
});

test('a configuration that does not fit its type is refused in the words of Kubernetes', () => {
  const config = {
    spec: {
      replicas: 'two',
      templat: {},
      selecto: {},
      selector: [],
      paused: 5,
      strategy: { rollingUpdate: { maxSurge: {} } },
      template: {
        metadata: { labels: { a: 1, b: true, c: { d: 'x' } }, finalizers: ['a', 'a', {}] },
        spec: {
          containers: [
            { name: 'c', imagee: 'i', ports: [{ containerPort: 80, nam: 'x' }, { protocol: 'UDP' }] },
            { name: 'c', args: {} },
            { image: 'i' },
            5,
          ],
        },
      },
    },
  };
  const containers = '.spec.template.spec.containers';
  expect(checkConfig(config, types.message('apps/v1.Deployment'))).toEqual([
    '.spec.replicas: expected numeric (int or float), got string',
    '.spec.selector: expected map, got &{[]}',
    '.spec.paused: expected boolean, got &{5}',
    '.spec.strategy.rollingUpdate.maxSurge: expected any scalar, got &{map[]}',
    '.spec.template.metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}',
    '.spec.template.metadata.labels.b: expected string, got &value.valueUnstructured{Value:true}',
    '.spec.template.metadata.labels.c: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"d":"x"}}',
    '.spec.template.metadata.finalizers: duplicate entries for key [="a"]',
    ".spec.template.metadata.finalizers: element 2: associative list without keys has an element that's a map type",
    `${containers}[name="c"].ports[containerPort=80,protocol="TCP"].nam: field not declared in schema`,
    `${containers}[name="c"].ports: element 1: associative list with keys has an element that omits key field "containerPort" (and doesn't have default value)`,
    `${containers}[name="c"].imagee: field not declared in schema`,
    `${containers}: duplicate entries for key [name="c"]`,
    `${containers}[name="c"].args: expected list, got &{map[]}`,
    `${containers}: element 2: associative list with keys has an element that omits key field "name" (and doesn't have default value)`,
    '.spec.templat: field not declared in schema',
  ]);
  // The reference to a key of a file is owned as one value.
  expect(loadTypes(36).message('core/v1.FileKeySelector').atomic).toBe(true);
  // The name of a secret has a default, which is empty.
  const secrets = { spec: { template: { spec: { imagePullSecrets: [{}] } } } };
  expect(checkConfig(secrets, types.message('apps/v1.Deployment'))).toEqual([]);
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]));
  expect(checkConfig({ data: wide }, types.message('core/v1.ConfigMap'))).toHaveLength(100);
});

test('a random object of every built-in type, applied twice, is unchanged, and applied as nothing is gone', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    for (let seed = 1; seed <= 3; seed += 1) {
      const config = withoutServerParts(decodeObject(new RandomObjects(seed).object(schema), schema).object);
      const name = `${storage.type}, seed ${seed}`;
      if (checkConfig(config, schema).length > 0) continue;
      const written = new Written(storage.type).apply('a', config);
      const once = JSON.stringify(written.object);
      expect(JSON.stringify(written.apply('a', config).object), name).toBe(once);
      expect(written.apply('a', {}).plain, name).toEqual(new Written(storage.type).apply('b', {}).plain);
    }
  }
});

test('after random writes every field has an owner, and every owned field exists', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    const shape = shapeOfMessage(schema);
    const random = (seed: number): JsonObject => withoutServerParts(new RandomObjects(seed).object(schema));
    const written = new Written(storage.type)
      .update('a', random(1))
      .update('b', random(2))
      .update('c', random(3));
    const owned = (written.object?.metadata.managedFields ?? []).reduce<FieldSet>(
      (set, { fieldsV1 }) => union(set, fieldsV1 as unknown as FieldSet),
      {},
    );
    const present = withoutServerFields(fieldsOf(written.plain, shape));
    const nobodys = fieldsOf(emptyObject(schema), shape);
    expect(
      [...pathsOf(difference(difference(present, owned), nobodys))].map(formatPath),
      storage.type,
    ).toEqual([]);
  }
});

function withoutServerParts(object: JsonObject): JsonObject {
  const { metadata, kind: _, apiVersion: __, ...rest } = object;
  const { labels, annotations } = (metadata ?? {}) as JsonObject;
  return {
    ...rest,
    metadata: {
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}
