import { expect, test } from 'vitest';
import { AdmissionChain, type AdmissionPlugin } from '../../../src/admission/admission.ts';
import type { Gates } from '../../../src/api/feature-gates.ts';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, ObjectMeta } from '../../../src/api/object-meta.ts';
import { conflict, type FieldError, StatusError } from '../../../src/api/status.ts';
import { findMetadataEnd, toStoredJson } from '../../../src/codec/stored-object.ts';
import { GatedFields } from '../../../src/registry/gated-fields.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { ResourceDefinition, ViewSubresource } from '../../../src/registry/resource-definition.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { ObjectKey } from '../../../src/storage/key.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Write } from '../../../src/storage/revision-log.ts';
import type { Entry, Freshness, Store } from '../../../src/storage/store.ts';
import { ValueAllocator } from '../../../src/verbs/writing/allocation.ts';
import type { Change } from '../../../src/verbs/writing/change.ts';
import { Ownership } from '../../../src/verbs/writing/field-ownership.ts';
import { SharedExpiry } from '../../../src/verbs/writing/shared-expiry.ts';
import type { WriteCall } from '../../../src/verbs/writing/write-call.ts';
import { ObjectWriter } from '../../../src/verbs/writing/writer.ts';

/** A cache that is one change behind the database until it is asked for the newest. */

const map = (value: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'm', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { k: value },
});

const ENDS = '2026-01-02T00:00:00Z';

const entry = (object: ApiObject, revision: number): Entry => ({
  namespace: 'default',
  name: 'm',
  uid: 'u',
  revision: toRevision(revision),
  json: toStoredJson(object),
  sizeBytes: 0,
  metadataEnd: findMetadataEnd(toStoredJson(object)),
  labels: {},
  fields: {},
  ownerUids: [],
});

function setUp(
  stale: Entry | undefined,
  newest: Entry | undefined,
  plugins: readonly AdmissionPlugin[] = [],
  notOlder: Entry | undefined = newest,
  isFeatureOn?: Gates,
) {
  const commits: Write[] = [];
  const entries = { any: stale, 'not-older': notOlder, latest: newest, exact: undefined };
  const store = {
    get: (_: ObjectKey, { kind }: Freshness) => Promise.resolve(entries[kind]),
    commit: (write: Write) => {
      if (newest !== undefined && write.expected !== newest.revision) {
        const kind = write.expected === undefined ? 'exists' : 'conflict';
        return Promise.reject(new StorageError({ kind, key: write.key, current: newest.revision }));
      }
      commits.push(write);
      return Promise.resolve(toRevision(99));
    },
  } as unknown as Store;
  const registry = new Registry();
  registry.add(configmaps, () => true);
  const types = loadTypes();
  const now = (): Date => new Date('2026-02-02T00:00:00Z');
  const writer = new ObjectWriter({
    gatedFields: new GatedFields(() => true, types),
    store,
    admission: new AdmissionChain(plugins),
    types,
    ownership: new Ownership({ types, registry, now }),
    allocator: new ValueAllocator({} as never, [], {} as never),
    now,
    expiry: new SharedExpiry({ ttlMs: 0, reuseMs: 0 }),
    collectsGarbage: true,
    ...(isFeatureOn === undefined ? {} : { isFeatureOn }),
  });
  return { writer, commits };
}

const call = (dryRun = false): WriteCall => ({
  definition: configmaps,
  version: 'v1',
  subresource: '',
  namespace: 'default',
  dryRun,
  author: {
    user: { username: 'u', uid: '', groups: [], extra: {} },
    attribution: { username: 'u', userAgent: '', sourceAddress: '', requestId: 'r', fieldManager: 'm' },
  },
  ownership: 'track',
});

const setTo = (value: string): Change => ({
  kind: 'object',
  apply: (copy: ApiObject): ApiObject => ({ ...copy, data: { k: value } }),
});

test('a change that the cache already shows, and the database no longer has, is written', async () => {
  const { writer, commits } = setUp(entry(map('wanted'), 1), entry(map('other'), 2));
  const written = await writer.update(call(), 'm', setTo('wanted'));
  expect(written.revision).toBe(toRevision(99));
  expect(commits.map(({ expected }) => expected)).toEqual([toRevision(2)]);
});

test('nothing is written when the newest state is what is wanted', async () => {
  const { writer, commits } = setUp(entry(map('old'), 1), entry(map('wanted'), 2));
  const written = await writer.update(call(), 'm', setTo('wanted'));
  expect(written.revision).toBe(toRevision(2));
  expect(commits).toEqual([]);
});

test('a change that a lost history has, and the database no longer, is written', async () => {
  const [before, lost, newest] = [entry(map('old'), 6), entry(map('wanted'), 7), entry(map('old'), 5)];
  const { writer, commits } = setUp(before, newest, [], lost);
  const written = await writer.update(call(), 'm', setTo('wanted'));
  expect(written.revision).toBe(toRevision(99));
  expect(commits.map(({ expected }) => expected)).toEqual([toRevision(5)]);
});

test('a dry run shows what would become of the newest state', async () => {
  const { writer, commits } = setUp(entry(map('old'), 1), entry({ ...map('new'), immutable: false }, 2));
  const written = await writer.update(call(true), 'm', setTo('x'));
  expect(JSON.parse(written.json.toString())).toMatchObject({ immutable: false, data: { k: 'x' } });
  expect(commits).toEqual([]);
});

test('a refusal counts only against the newest state', async () => {
  const { writer, commits } = setUp(entry(map('old'), 1), entry(map('new'), 2));
  const onlyNew: Change = {
    kind: 'object',
    apply: (copy: ApiObject): ApiObject => {
      if ((copy.data as { k: string }).k !== 'new') throw conflict(configmaps, 'm', 'not yet');
      return { ...copy, data: { k: 'newer' } };
    },
  };
  await writer.update(call(), 'm', onlyNew);
  expect(commits).toHaveLength(1);
  const never: Change = { kind: 'object', apply: () => Promise.reject(conflict(configmaps, 'm', 'never')) };
  await expect(writer.update(call(), 'm', never)).rejects.toThrow(StatusError);
});

/** A resource whose rules write down that they were asked. */
function withNotedRules(): { definition: ResourceDefinition; view: ViewSubresource; asked: string[] } {
  const asked: string[] = [];
  const note = (rule: string) => (): FieldError[] => {
    asked.push(rule);
    return [];
  };
  const strategy = {
    ...configmaps.strategy,
    defaults: note('defaults'),
    prepareForUpdate: note('prepare'),
    validate: note('validate'),
    validateUpdate: note('validate update'),
  };
  const view: ViewSubresource = {
    access: 'view',
    name: 'status',
    served: { group: '', version: 'v1', kind: 'ConfigMap' },
    type: 'core/v1.ConfigMap',
    verbs: [],
    read: (parent) => parent,
    write: (written) => written,
    validate: note('validate view'),
  };
  return { definition: { ...configmaps, strategy }, view, asked };
}

test('which rules hold for an update follows from what it writes; it must be a valid object in any case', async () => {
  for (const [kind, rules] of [
    ['object', ['defaults', 'prepare', 'validate', 'validate update']],
    ['view', ['validate', 'validate view']],
    ['state', ['validate']],
  ] as const) {
    const { writer } = setUp(entry(map('old'), 1), entry(map('old'), 1));
    const { definition, view, asked } = withNotedRules();
    const { apply } = setTo('new');
    const change: Change = kind === 'view' ? { kind, view, apply } : { kind, apply };
    await writer.update({ ...call(), definition }, 'm', change);
    expect(asked).toEqual(rules);
  }
});

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const;

test('a caller is warned of an object that plugins refuse, before they do', async () => {
  const texts: string[] = [];
  const warn = (text: string): void => void texts.push(text);
  const refuses: AdmissionPlugin = {
    name: 'Refuses',
    operations: OPERATIONS,
    validate: async () => {
      warn('plugin');
      throw conflict(configmaps, 'm', 'refused');
    },
  };
  const strategy = {
    ...configmaps.strategy,
    ...{ warningsAsSent: () => ['as sent'], warnings: () => ['prepared'] },
  };
  const request = { verb: 'create', query: new URLSearchParams(), receivedBytes: 0, warn };
  const { writer } = setUp(undefined, undefined, [refuses]);
  const creation = writer.create({ ...call(), definition: { ...configmaps, strategy }, request }, map('new'));
  await expect(creation).rejects.toThrow('refused');
  expect(texts).toEqual(['as sent', 'prepared', 'plugin']);
});

test('of equal owner references one is kept, with a warning', async () => {
  const owner = (name: string, uid = 'o') => ({ apiVersion: 'v1', kind: 'Node', name, uid });
  const owned = (...ownerReferences: object[]): ApiObject =>
    ({ ...map('new'), metadata: { ...map('new').metadata, ownerReferences } }) as ApiObject;
  const texts: string[] = [];
  const asked = (verb: string): WriteCall => {
    const warn = (text: string): void => void texts.push(text);
    return { ...call(), request: { verb, query: new URLSearchParams(), receivedBytes: 0, warn } };
  };
  const adds: AdmissionPlugin = {
    name: 'Adds',
    operations: OPERATIONS,
    mutate: async ({ object }) => {
      object?.metadata.ownerReferences?.push(owner('a'));
    },
  };
  const current = entry(map('old'), 1);
  for (const [verb, plugins] of [
    ['update', []],
    ['patch', []],
    ['update', [adds]],
  ] as const) {
    const { writer, commits } = setUp(current, current, plugins);
    const apply = () => owned(owner('a'), owner('b', 'p'), owner('a'), owner('c'));
    await writer.update(asked(verb), 'm', { kind: 'object', apply });
    const [{ json } = { json: '{}' }] = commits as unknown as { json: string }[];
    expect(JSON.parse(json.toString()).metadata.ownerReferences).toEqual([
      owner('a'),
      owner('b', 'p'),
      owner('c'),
    ]);
  }
  const created = setUp(undefined, undefined);
  await created.writer.create(asked('create'), owned(owner('a'), owner('a')));
  const before = expect.stringMatching(/duplicate entries; .* UID\(s\) observed: o$/);
  const after = expect.stringMatching(/duplicate entries after mutating admission happens; .* observed: o$/);
  expect(texts).toEqual([before, after, before, after, before]);
});

const away = (): Promise<never> =>
  Promise.reject(new StorageError({ kind: 'unavailable', reason: 'the database is gone' }));

test('plugins that validate an update see the resourceVersion that it replaces, and storage gets none', async () => {
  const seen: unknown[] = [];
  const sees: AdmissionPlugin = {
    name: 'Sees',
    operations: ['UPDATE'],
    validate: ({ object, old }) => {
      seen.push([object?.metadata.resourceVersion, old?.metadata.resourceVersion]);
    },
  };
  const stored = entry(map('old'), 7);
  const { writer, commits } = setUp(stored, stored, [sees]);
  // As a PUT without a resourceVersion.
  await writer.update(call(), 'm', { kind: 'object', apply: () => map('new') });
  expect(seen).toEqual([['7', '7']]);
  expect(commits.map(({ json }) => JSON.parse(`${json}`).metadata.resourceVersion)).toEqual([undefined]);
});

test.each<[string, AdmissionPlugin]>([
  ['mutating', { name: 'Reads', operations: OPERATIONS, mutate: away }],
  ['validating', { name: 'Reads', operations: OPERATIONS, validate: away }],
])('a read that fails in a %s plugin makes every write a 503', async (_, plugin) => {
  const current = entry(map('old'), 1);
  const existing = setUp(current, current, [plugin]).writer;
  const absent = setUp(undefined, undefined, [plugin]).writer;
  const sent = { ...map('new'), metadata: { name: 'm', namespace: 'default' } };
  const nameless = { ...sent, metadata: { generateName: 'm-', namespace: 'default' } };
  const orCreate: Change = { ...setTo('new'), kind: 'object', create: () => structuredClone(sent) };
  const options = {
    ...{ gracePeriodSeconds: undefined, propagationPolicy: undefined, orphanDependents: undefined },
    ...{ preconditions: {}, dryRun: false },
  };
  const writes = [
    absent.create(call(), structuredClone(sent)),
    absent.create(call(true), structuredClone(sent)),
    absent.create(call(), nameless),
    absent.update(call(), 'm', orCreate),
    existing.update(call(), 'm', setTo('new')),
    existing.update(call(), 'm', { ...setTo('new'), kind: 'state' }),
    existing.remove(call(), 'm', options),
  ];
  for (const write of await Promise.allSettled(writes))
    expect(write).toMatchObject({ status: 'rejected', reason: { status: { code: 503 } } });
});

test.each<[string, Partial<ObjectMeta>, Partial<ObjectMeta>, string]>([
  ['the object', {}, {}, 'configmaps "m" already exists'],
  ['an end', { deletionTimestamp: ENDS }, {}, 'object is being deleted: configmaps "m" already exists'],
  [
    'an end, under a name with a prefix',
    { deletionTimestamp: ENDS },
    { generateName: 'm-' },
    'object is being deleted: configmaps "m" already exists, the server was not able to generate a unique name for the object',
  ],
])('a create that meets %s says so', async (_, there, sent, message) => {
  const existing = map('old');
  const current = entry({ ...existing, metadata: { ...existing.metadata, ...there } }, 1);
  const { writer, commits } = setUp(undefined, current);
  const retryAfterSeconds = 'generateName' in sent ? 1 : undefined;
  for (const dryRun of [false, true]) {
    const made = { ...map('new'), metadata: { name: 'm', namespace: 'default', ...sent } };
    const error: unknown = await writer.create(call(dryRun), made).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ status: { code: 409, reason: 'AlreadyExists', message } });
    expect((error as StatusError).status.details?.retryAfterSeconds).toBe(retryAfterSeconds);
  }
  expect(commits).toEqual([]);
});

test('nothing, an apply neither, makes an object of a definition that is being deleted', async () => {
  const gates: Gates = Object.assign(() => true, { minor: 34 } as const);
  const { writer, commits } = setUp(undefined, undefined, [], undefined, gates);
  const custom = { isEnding: true, through: (store: Store) => store } as NonNullable<
    ResourceDefinition['custom']
  >;
  const ending = { ...call(true), definition: { ...configmaps, custom } };
  const message = /"m" is forbidden: create not allowed while custom resource definition is terminating$/;
  const refusal = { status: { code: 403, message: expect.stringMatching(message) } };
  const made = (): ApiObject => ({ ...map('new'), metadata: { name: 'm' } });
  await expect(writer.create(ending, made())).rejects.toMatchObject(refusal);
  const apply = { kind: 'object', apply: made, create: made } as const;
  await expect(writer.update(ending, 'm', apply)).rejects.toMatchObject(refusal);
  expect(commits).toEqual([]);
});
