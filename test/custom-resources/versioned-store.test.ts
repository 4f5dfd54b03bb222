import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import { parseStored, toStoredJson } from '../../src/codec/stored-object.ts';
import type { ConversionParts } from '../../src/custom-resources/conversion/webhook-converter.ts';
import { CustomResource } from '../../src/custom-resources/custom-resource.ts';
import type { Encoding, Entry, SharedEvent, Store } from '../../src/storage/store.ts';
import { definitionOf } from '../kit/definitions.ts';
import { ReferenceStore } from '../storage/contract/reference-store.ts';

/** Objects of a custom resource, as they were stored and as a version has them. */

const types = loadTypes();
/** No definition here has one. */
const NO_WEBHOOK = {} as ConversionParts;
const GROUP = 'stable.example.com';
const KEY = { group: GROUP, resource: 'widgets', namespace: 'default', name: 'a' };
const ATTRIBUTION = { username: '', userAgent: '', sourceAddress: '', requestId: '', fieldManager: '' };
const LATEST = { kind: 'latest' } as const;

interface VersionOutline {
  readonly name: string;
  readonly properties?: Record<string, JSONSchemaProps>;
}

/** The first version is the one that is stored. A generation above 1 says that there were other schemas before. */
function resourceOf(generation: number, ...versions: VersionOutline[]): CustomResource {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const { spec } = definition;
  if (spec !== undefined)
    spec.versions = versions.map(({ name, properties }, at) => ({
      name,
      served: true,
      storage: at === 0,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          ...(properties === undefined ? { 'x-kubernetes-preserve-unknown-fields': true } : { properties }),
        },
      },
    }));
  definition.metadata.generation = generation;
  return new CustomResource(toStoredJson(definition), { types, ratchets: true, conversion: NO_WEBHOOK });
}

function storeOf(resource: CustomResource, version: string, store: Store): Store {
  const found = resource.definitions().find(({ storage }) => storage.version === version);
  if (found?.custom === undefined) throw new Error(`${version} is not served`);
  return found.custom.through(store);
}

const objectOf = (version: string, fields: JsonObject = {}): ApiObject => ({
  kind: 'Widget',
  apiVersion: `${GROUP}/${version}`,
  metadata: { name: 'a', namespace: 'default', uid: 'u' },
  ...fields,
});

const commit = (store: Store, object: ApiObject) =>
  store.commit({
    ...{ verb: 'create', key: KEY, uid: 'u', expected: undefined, attribution: ATTRIBUTION },
    json: toStoredJson(object),
  });

const shown = (entry: Entry | undefined): JsonObject => {
  if (entry === undefined) throw new Error('there is no object');
  return parseStored(entry.json);
};

const INTEGER: JSONSchemaProps = { type: 'integer' };

test('what was stored under the only schema there was is read as the very entry that is stored', async () => {
  const store = new ReferenceStore();
  const versioned = storeOf(resourceOf(1, { name: 'v1' }), 'v1', store);
  await commit(versioned, objectOf('v1', { x: 1 }));
  const entry = await store.get(KEY, LATEST);
  expect(await versioned.get(KEY, LATEST)).toBe(entry);
  const query = { resource: KEY, scope: {}, freshness: LATEST, limit: 0 };
  expect((await versioned.list(query)).entries[0]).toBe(entry);
});

test('an object stored under an earlier schema is shown by the one of today, and is outdated until it is written', async () => {
  const store = new ReferenceStore();
  await commit(store, objectOf('v1', { old: 1, kept: 2 }));
  const properties = { kept: INTEGER, added: { ...INTEGER, default: 3 } };
  const versioned = storeOf(resourceOf(2, { name: 'v1', properties }), 'v1', store);
  const entry = await versioned.get(KEY, LATEST);
  expect(shown(entry)).toEqual(objectOf('v1', { kept: 2, added: 3 }));
  expect(entry?.isOutdated).toBe(true);
  expect(await versioned.get(KEY, LATEST)).toBe(entry);
});

test('an object that the schema of today leaves as it is, is current', async () => {
  const store = new ReferenceStore();
  await commit(store, objectOf('v1', { kept: 2 }));
  const versioned = storeOf(resourceOf(2, { name: 'v1', properties: { kept: INTEGER } }), 'v1', store);
  expect(await versioned.get(KEY, LATEST)).toBe(await store.get(KEY, LATEST));
});

test('an object that is stored without a status has the default status, until it has another', async () => {
  const store = new ReferenceStore();
  const phase: JSONSchemaProps = { type: 'string' };
  const status: JSONSchemaProps = { type: 'object', properties: { phase }, default: { phase: 'Pending' } };
  const resource = resourceOf(1, { name: 'v1', properties: { status } });
  const versioned = storeOf(resource, 'v1', store);
  const { custom } = resource.definitions()[0] ?? {};
  const preset = { ...objectOf('v1'), status: { phase: 'Pending' } };
  const written = await custom?.readBack(toStoredJson(objectOf('v1')));
  expect(written && parseStored(written)).toEqual(preset);
  await commit(versioned, objectOf('v1'));
  expect(shown(await versioned.get(KEY, LATEST))).toEqual(preset);
  const other = toStoredJson({ ...objectOf('v1'), status: { phase: 'Ready' } });
  expect(await custom?.readBack(other)).toEqual(other);
});

test('an object whose defaults would be more than an object may have is shown without them', async () => {
  const store = new ReferenceStore();
  await commit(store, objectOf('v1', { items: Array.from({ length: 40 }, () => ({})) }));
  const long: JSONSchemaProps = { type: 'string', default: 'x'.repeat(100_000) };
  const items: JSONSchemaProps = { type: 'array', items: { type: 'object', properties: { long } } };
  const versioned = storeOf(resourceOf(2, { name: 'v1', properties: { items } }), 'v1', store);
  expect(shown(await versioned.get(KEY, LATEST))).toMatchObject({ items: expect.any(Array) });
});

test('the order of fields makes no object outdated', async () => {
  const store = new ReferenceStore();
  const metadata = { uid: 'u', namespace: 'default', name: 'a' };
  await commit(store, { ...objectOf('v1', { kept: 2 }), metadata });
  const resource = resourceOf(2, { name: 'v1', properties: { kept: INTEGER } }, { name: 'v2' });
  expect(await storeOf(resource, 'v1', store).get(KEY, LATEST)).toBe(await store.get(KEY, LATEST));
  expect((await storeOf(resource, 'v2', store).get(KEY, LATEST))?.isOutdated).toBe(false);
});

test('a version reads and writes the other one, whose schema decides what is stored', async () => {
  const store = new ReferenceStore();
  const both = { name: 'v1', properties: { x: INTEGER } };
  const resource = resourceOf(1, both, { name: 'v2', properties: { x: INTEGER, y: INTEGER } });
  await commit(storeOf(resource, 'v2', store), objectOf('v2', { x: 1, y: 2 }));
  expect(shown(await store.get(KEY, LATEST))).toEqual(objectOf('v1', { x: 1 }));
  const entry = await storeOf(resource, 'v2', store).get(KEY, LATEST);
  expect(shown(entry)).toEqual(objectOf('v2', { x: 1 }));
  expect(entry?.isOutdated).toBe(false);
});

test('an object stored in a version that is not stored any more is outdated in every version', async () => {
  const store = new ReferenceStore();
  await commit(store, objectOf('v1', { x: 1 }));
  const resource = resourceOf(2, { name: 'v2' }, { name: 'v1' });
  for (const version of ['v1', 'v2']) {
    const entry = await storeOf(resource, version, store).get(KEY, LATEST);
    expect([shown(entry).apiVersion, entry?.isOutdated]).toEqual([`${GROUP}/${version}`, true]);
  }
});

test('all watchers of a version share its events and their bytes', async () => {
  const store = new ReferenceStore();
  const versioned = storeOf(resourceOf(1, { name: 'v1' }, { name: 'v2' }), 'v2', store);
  let encoded = 0;
  const encoding: Encoding = {
    id: 'json',
    encode: ({ entry }) => {
      encoded += 1;
      return Buffer.from(entry.json);
    },
  };
  const stop = new AbortController();
  const frames: Buffer[] = [];
  const events: SharedEvent[] = [];
  const query = {
    resource: KEY,
    scope: {},
    start: { kind: 'after', revision: store.current },
    bookmarks: false,
  } as const;
  const stream = await versioned.watch(query, stop.signal);
  const again: Buffer[] = [];
  const delivered = stream.deliver((event) => {
    if (!('entry' in event)) return undefined;
    events.push(event);
    frames.push(event.encoded(encoding));
    again.push(event.encoded(encoding));
    stop.abort();
    return undefined;
  });
  await commit(versioned, objectOf('v2', { x: 1 }));
  await delivered;
  expect(events.map(({ type }) => type)).toEqual(['ADDED']);
  expect(JSON.parse(String(frames[0]))).toEqual(objectOf('v2', { x: 1 }));
  expect([again[0] === frames[0], encoded]).toEqual([true, 1]);
});

test('a watch ends when its version retires', async () => {
  const store = new ReferenceStore();
  const resource = resourceOf(1, { name: 'v1' });
  const query = {
    resource: KEY,
    scope: {},
    start: { kind: 'state', freshness: LATEST },
    bookmarks: false,
  } as const;
  const stream = await storeOf(resource, 'v1', store).watch(query, new AbortController().signal);
  const delivered = stream.deliver(() => undefined);
  resource.retire();
  await delivered;
  expect(resource.retired.aborted).toBe(true);
});
