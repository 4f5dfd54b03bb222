import { expect, test, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Minor } from '../../../src/api/emulation.ts';
import { loadTypes } from '../../../src/api/idl/types.ts';
import { toApiVersion } from '../../../src/api/names.ts';
import type { ApiObject, JsonObject, ObjectMeta } from '../../../src/api/object-meta.ts';
import type { Body } from '../../../src/codec/chunks.ts';
import { decodeObject } from '../../../src/codec/decode.ts';
import { negotiate } from '../../../src/codec/negotiate.ts';
import { decodeEnvelope } from '../../../src/codec/protobuf/envelope.ts';
import { toStoredJson } from '../../../src/codec/stored-object.ts';
import { toYaml } from '../../../src/codec/yaml/emitter.ts';
import type { ServedResource } from '../../../src/registry/registry.ts';
import type { ResourceDefinition, ViewSubresource } from '../../../src/registry/resource-definition.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { createForm } from '../../../src/verbs/forms/create-form.ts';
import { type Form, toServed } from '../../../src/verbs/forms/form.ts';
import { DEFAULT_MINOR } from '../../../src/version.ts';
import { RandomObjects } from '../../codec/random-object.ts';
import { BUILT_IN_RESOURCES } from '../../kit/built-in-resources.ts';

const types = loadTypes();
const HEAD = { resourceVersion: '7', continue: 'more', remainingItemCount: 3 };
const NOW = Date.parse('2030-01-01T00:00:00Z');

function entriesOf(definition: ResourceDefinition): CachedEntry[] {
  const schema = types.message(definition.storage.type);
  return [1, 2, 3].map((seed) => {
    const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
    const json = toStoredJson({
      ...object,
      kind: definition.kind,
      apiVersion: toApiVersion(definition.storage),
      metadata: (object.metadata ?? {}) as ObjectMeta,
    });
    const key = { ...definition.storage, namespace: '', name: `n-${seed}` };
    return new CachedEntry({ key, uid: `u-${seed}`, revision: toRevision(seed), json }, () => ({}));
  });
}

interface FormChoice {
  readonly types?: typeof types;
  readonly minor?: Minor;
  readonly pretty?: boolean;
  readonly view?: ViewSubresource;
}

function formOf(
  served: ServedResource,
  accept: string,
  { types: known = types, minor = DEFAULT_MINOR, pretty = false, view }: FormChoice = {},
): Form {
  const representation = negotiate(accept, { pretty, protobuf: true });
  return createForm({
    ...{ served, types: known, minor, representation },
    dialect: 'k8s.io',
    includeObject: 'Metadata',
    now: () => NOW,
    ...(view === undefined ? {} : { view }),
  });
}

function bytesOf({ chunks, rest = [] }: Body): Buffer {
  const pieces = [...chunks];
  for (const piece of rest) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

const textOf = (body: Body): string => bytesOf(body).toString();
const parse = (body: Body): JsonObject => JSON.parse(textOf(body)) as JsonObject;
const withoutType = ({ kind: _kind, apiVersion: _apiVersion, ...rest }: JsonObject): JsonObject => rest;

/** Every resource in every version it is served in. */
const SERVED: readonly ServedResource[] = BUILT_IN_RESOURCES.filter(
  ({ storage }) => types.has(storage.type) && types.has(`${storage.type}List`),
).flatMap((definition) => definition.versions.map((version) => ({ definition, version })));

test('a list says once what its items are, and metadata says it for each', async () => {
  for (const served of SERVED) {
    const entries = entriesOf(served.definition);
    const whole = entries.map((entry) => toServed(entry, { served, dialect: 'k8s.io' }));
    const list = parse(await formOf(served, 'application/json').list(entries, HEAD));
    expect(Object.keys(list)).toEqual(['kind', 'apiVersion', 'metadata', 'items']);
    expect(list.kind).toBe(served.definition.listKind);
    expect(list.items).toEqual(whole.map(withoutType));
    const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    expect(parse(await formOf(served, partial).list(entries, HEAD)).items).toEqual(
      whole.map(({ metadata }) => ({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
      })),
    );
    const alone = entries.map((entry) => parse(formOf(served, 'application/json').object(entry)));
    expect(alone).toEqual(whole);
  }
});

const SHOWN = {
  object: '',
  table: ';as=Table;v=v1;g=meta.k8s.io',
  metadata: ';as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
};

test.each(Object.entries(SHOWN))('pretty JSON and YAML show what JSON shows: %s', async (_, as) => {
  for (const served of SERVED) {
    const entries = entriesOf(served.definition);
    const [compact, pretty, yaml] = [
      formOf(served, `application/json${as}`),
      formOf(served, `application/json${as}`, { pretty: true }),
      formOf(served, `application/yaml${as}`),
    ];
    const lists = [entries, entries.slice(0, 1), []];
    for (const shown of lists) {
      const list = parse(await compact.list(shown, HEAD));
      expect(textOf(await pretty.list(shown, HEAD))).toBe(`${JSON.stringify(list, undefined, 2)}\n`);
      expect(textOf(await yaml.list(shown, HEAD)), served.definition.kind).toBe(toYaml(list));
    }
    for (const entry of entries) {
      const object = parse(compact.object(entry));
      expect(textOf(pretty.object(entry))).toBe(`${JSON.stringify(object, undefined, 2)}\n`);
      expect(textOf(yaml.object(entry))).toBe(toYaml(object));
    }
  }
});

test.each(['json', 'yaml'])(
  'a scale is a row of its own: what is wanted, what is there, the age (%s)',
  (format) => {
    const served = SERVED.find(({ definition: { kind } }) => kind === 'Deployment');
    const scale = served?.definition.subresources.find(({ name }) => name === 'scale');
    if (served === undefined || scale?.access !== 'view') throw new Error('deployments have no scale');
    const json = toStoredJson({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web', creationTimestamp: '2029-12-31T23:59:00Z', labels: { a: 'b' } },
      spec: { replicas: 3, selector: {} },
      status: { replicas: 2 },
    });
    const stored = { json, revision: toRevision(5) };
    const form = formOf(served, `application/${format}${SHOWN.table}`, { view: scale });
    const { columnDefinitions, rows } = parseYaml(textOf(form.object(stored)));
    const names = columnDefinitions.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Name', 'Desired', 'Available', 'Age']);
    const metadata = { name: 'web', resourceVersion: '5', creationTimestamp: '2029-12-31T23:59:00Z' };
    const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    expect(rows).toEqual([{ cells: ['web', 3, 2, '60s'], object }]);
  },
);

test('what a view is of another kind than its parent has a table of its own, and what an explanation shows is where it ends', () => {
  const foreign = SERVED.flatMap(({ definition }) =>
    definition.subresources.flatMap((one) =>
      one.access === 'view' && one.type !== definition.storage.type ? [{ definition, view: one }] : [],
    ),
  );
  for (const { definition, view } of foreign)
    expect(view.table, `${definition.resource}/${view.name}`).toBeDefined();
  const served = SERVED.find(({ definition }) => definition.resource === 'revisions');
  const why = foreign.find(({ view }) => view.name === 'why');
  if (served === undefined || why === undefined) throw new Error('revisions/why is not served');
  const object = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' };
  const explanation = toStoredJson({
    ...{ kind: 'Explanation', apiVersion: 'history.cluster.io/v1alpha1' },
    metadata: { name: '9', creationTimestamp: '2029-12-31T23:59:00Z' },
    ...{
      revision: '9',
      root: '7',
      links: [{ revision: '9' }, { revision: '7', user: 'bob', verb: 'update', object }],
    },
  });
  const form = formOf(served, `application/json${SHOWN.table}`, { view: why.view });
  const table = parse(form.object({ json: explanation, revision: toRevision(9) }));
  expect(table.rows).toMatchObject([
    {
      cells: ['9', '60s', '7', 'bob', '', 'update', 'deployments.apps/web', 'shop', ''],
      object: { kind: 'PartialObjectMetadata', metadata: { name: '9' } },
    },
  ]);
});

test('an object too large to be written at once is the same, alone and in a list', async () => {
  const definition = BUILT_IN_RESOURCES.find(({ kind }) => kind === 'ConfigMap');
  const [version] = definition?.versions ?? [];
  if (definition === undefined || version === undefined) throw new Error('there are no config maps');
  const served = { definition, version };
  const managedFields = [
    { manager: 'me', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } },
  ];
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, `value ${at}`]));
  for (const content of [{ data }, {}]) {
    const annotations = { large: 'x'.repeat(200_000) };
    const object = {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a', annotations, managedFields },
      ...content,
    };
    const key = { ...definition.storage, namespace: '', name: 'a' };
    const stored = { key, uid: 'u', revision: toRevision(5), json: toStoredJson(object) };
    const entry = new CachedEntry(stored, () => ({}));
    const [compact, yaml] = [formOf(served, 'application/json'), formOf(served, 'application/yaml')];
    expect(yaml.object(entry).rest).toBeDefined();
    expect(textOf(yaml.object(entry))).toBe(toYaml(parse(compact.object(entry))));
    const list = parse(await compact.list([entry, entry], HEAD));
    expect(textOf(await yaml.list([entry, entry], HEAD))).toBe(toYaml(list));
  }
});

test('events say what they hold, and are a line each', () => {
  for (const served of SERVED) {
    for (const as of [SHOWN.object, SHOWN.metadata]) {
      const [entry] = entriesOf(served.definition);
      if (entry === undefined) continue;
      const event = { type: 'MODIFIED' as const, entry, revision: toRevision(9) };
      const compact = formOf(served, `application/json${as}`).frames.encode(event).toString();
      const shown = JSON.parse(compact) as { object: JsonObject; type: string };
      expect(compact).toBe(`${JSON.stringify(shown)}\n`);
      expect(shown.object.kind).toBe(as === '' ? served.definition.kind : 'PartialObjectMetadata');
      const pretty = formOf(served, `application/json${as}`, { pretty: true }).frames;
      expect(pretty.encode(event).toString()).toBe(compact);
    }
  }
});

test.each(Object.entries(SHOWN))(
  'a bookmark has a time of creation, null, before 1.34 alone: %s',
  (as, shown) => {
    const pods = SERVED.find(({ definition }) => definition.kind === 'Pod');
    if (pods === undefined) throw new Error('pods are served');
    const timeIn = (minor: Minor, { definition, version } = pods): unknown => {
      const accept = `application/json${shown}`;
      // Forms are remembered for as long as their definition is.
      const served = { definition: { ...definition }, version };
      const frame = formOf(served, accept, { types: loadTypes(minor) }).frames.bookmark(toRevision(7), false);
      const { object } = JSON.parse(frame.toString()) as { object: JsonObject };
      const [row] = (object.rows ?? [{ object }]) as { object: { metadata: JsonObject } }[];
      expect(row?.object.metadata.resourceVersion).toBe('7');
      const end = formOf(served, accept, { types: loadTypes(minor) }).frames.bookmark(toRevision(7), true);
      expect(end.toString()).toMatch(/"?k8s.io\/initial-events-end"?: ?"true"/);
      return row?.object.metadata.creationTimestamp;
    };
    const custom = {} as NonNullable<ResourceDefinition['custom']>;
    const ofCustom = { ...pods, definition: { ...pods.definition, custom } };
    expect(timeIn(33)).toBeNull();
    expect(timeIn(34)).toBeUndefined();
    // Custom resources have no type that writes it; their metadata alone has.
    expect(timeIn(33, ofCustom)).toBe(as === 'metadata' ? null : undefined);
  },
);

test('metadata as protobuf is what it is as JSON', async () => {
  const accept = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  const schema = types.message('meta/v1.PartialObjectMetadataList');
  for (const served of SERVED) {
    const entries = entriesOf(served.definition);
    const form = formOf(served, `application/vnd.kubernetes.protobuf${accept}`);
    const list = decodeEnvelope(bytesOf(await form.list(entries, HEAD)), schema);
    const json = parse(await formOf(served, `application/json${accept}`).list(entries, HEAD));
    const read = (object: JsonObject): JsonObject =>
      withoutType(decodeObject(object, types.message('meta/v1.PartialObjectMetadata')).object);
    expect((list.items as JsonObject[]).map(read)).toEqual((json.items as JsonObject[]).map(read));
  }
});

test('a protobuf list shows each object at its revision, as a get does, also after another list', async () => {
  const pods = SERVED.find(({ definition }) => definition.kind === 'Pod');
  if (pods === undefined) throw new Error('pods are served');
  const entries = entriesOf(pods.definition);
  const changed = entries.map(({ namespace, name, uid, json }, at) => {
    const key = { ...pods.definition.storage, namespace, name };
    return new CachedEntry({ key, uid, revision: toRevision(at + 10), json }, () => ({}));
  });
  const whole = formOf(pods, 'application/vnd.kubernetes.protobuf');
  const schema = types.message('core/v1.PodList');
  const lists = [entries, changed, [entries[0], changed[1], entries[2]], entries.slice(1)];
  for (const list of lists.map((some) => some.flatMap((entry) => entry ?? []))) {
    const { items } = decodeEnvelope(bytesOf(await whole.list(list, HEAD)), schema);
    const alone = list.map((entry) =>
      withoutType(decodeEnvelope(bytesOf(whole.object(entry)), types.message('core/v1.Pod'))),
    );
    expect(items).toStrictEqual(alone);
  }
});

test.each(Object.entries(SHOWN).filter(([name]) => name !== 'table'))(
  'protobuf of stored objects is made from their bytes, and no object is parsed: %s',
  async (_, as) => {
    const pods = SERVED.find(({ definition }) => definition.kind === 'Pod');
    if (pods === undefined) throw new Error('pods are served');
    const { storage } = pods.definition;
    const entries = ['a', 'b'].map((name, at) => {
      const managed = { manager: name, operation: 'Update', apiVersion: 'v1', fieldsV1: { 'f:spec': {} } };
      const object = {
        ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name, managedFields: [managed] } },
        spec: { nodeName: `node-${name}`, containers: [{ name: 'c', ports: [{ containerPort: 80 + at }] }] },
      };
      const json = toStoredJson(object as ApiObject);
      const key = { ...storage, namespace: '', name };
      return new CachedEntry({ key, uid: name, revision: toRevision(at + 1), json }, () => ({}));
    });
    const form = formOf(pods, `application/vnd.kubernetes.protobuf${as}`);
    using parsing = vi.spyOn(JSON, 'parse');
    bytesOf(await form.list(entries, HEAD));
    for (const entry of entries) {
      bytesOf(form.object(entry));
      form.frames.encode({ type: 'ADDED', entry, revision: entry.revision });
    }
    expect(parsing).not.toHaveBeenCalled();
  },
);

test('the bookmark that ends a state carries the list without items in 1.32 and 1.33', () => {
  const [definition] = BUILT_IN_RESOURCES.filter(({ resource }) => resource === 'configmaps');
  const [version] = definition?.versions ?? [];
  if (definition === undefined || version === undefined) throw new Error('there are no config maps');
  const endOf = (minor: Minor, accept: string): string => {
    // Forms are kept for each definition, which has one version in a process.
    const served = { definition: { ...definition }, version };
    return formOf(served, accept, { minor }).frames.bookmark(toRevision(7), true).toString('latin1');
  };
  const listIn = (minor: Minor, accept: string): Buffer | undefined => {
    const [, base64] =
      /initial-events-list-blueprint(?:":"|..)([A-Za-z0-9+/=]+)/s.exec(endOf(minor, accept)) ?? [];
    return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  };
  const json = 'application/json';
  const partial = `${json};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;
  const protobuf = 'application/vnd.kubernetes.protobuf';
  expect(listIn(32, json)?.toString()).toBe(
    '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":null}\n',
  );
  expect(listIn(33, partial)?.toString()).toBe(
    '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":null}\n',
  );
  const list = decodeEnvelope(
    listIn(33, protobuf) ?? Buffer.alloc(0),
    types.message('core/v1.ConfigMapList'),
  );
  expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
  for (const accept of [json, partial, protobuf])
    for (const minor of [31, 34, 36] as const) expect(listIn(minor, accept)).toBeUndefined();
});
