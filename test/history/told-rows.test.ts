import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { alwaysAllow } from '../../src/authz/authorizer.ts';
import { Blames } from '../../src/history/blames.ts';
import { RowTeller } from '../../src/history/recorded-rows.ts';
import type { Rights } from '../../src/history/rights.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import type { History, LoggedRevision, LogQuery } from '../../src/storage/history.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import type { Store } from '../../src/storage/store.ts';
import { NO_BIRTHS } from './no-births.ts';

const registry = new Registry();
const types = loadTypes();
const teller = new RowTeller({ registry, types });

const bytesOf = (object: JsonObject): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' }, ...object }));

const attribution = { username: 'ann', userAgent: '', sourceAddress: '', requestId: '', fieldManager: 'f' };

const row = (revision: number, more: Partial<LoggedRevision>): LoggedRevision => ({
  key: { group: '', resource: 'configmaps', namespace: 'd', name: 'm' },
  ...{ revision: toRevision(revision), uid: 'u', verb: 'update', previous: toRevision(revision - 1) },
  ...{ committedAt: new Date(0), at: '1970-01-01T00:00:00.000000Z', attribution },
  ...{ json: bytesOf({ data: { k: 'new' } }), previousJson: bytesOf({ data: { k: 'old' } }) },
  ...more,
});

const mayGet = (may: boolean): Rights => ({ mayGet: async () => may }) as Partial<Rights> as Rights;

const SEALED = 'application/x-encrypted; provider=aesgcm; key="1"';

test.each([
  ['written', { storedAs: SEALED }],
  ['before', { previousStoredAs: SEALED }],
])('what is encrypted at rest, %s, is told as changed to who may not get it', async (_, stored) => {
  const told = async (may: boolean) => (await teller.tell(row(2, stored), mayGet(may))).changes;
  expect(await told(true)).toEqual([{ path: 'data.k', old: 'old', new: 'new' }]);
  expect(await told(false)).toEqual([{ path: 'data.k', hidden: true }]);
});

test('a Secret in a whole object is cut out of it, with what kubectl keeps of it', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":…}', kept: 'x' };
  const secret = bytesOf({ metadata: { name: 'm', annotations }, data: { k: 'v' }, stringData: { k: 'v' } });
  const key = { group: '', resource: 'secrets', namespace: 'd', name: 'm' };
  const created = row(2, { key, verb: 'create', json: secret, previous: undefined, previousJson: undefined });
  const { changes } = await teller.tell(created, mayGet(false));
  const whole = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', annotations: { kept: 'x' } } };
  expect(changes).toEqual([{ path: '', new: whole, hidden: true }]);
  const annotated = row(2, { key, json: secret, previousJson: bytesOf({}) });
  expect((await teller.tell(annotated, mayGet(false))).changes).toEqual([
    { path: 'metadata.annotations', new: { kept: 'x' }, hidden: true },
    { path: 'data', hidden: true },
    { path: 'stringData', hidden: true },
  ]);
});

test('a state that cannot be read, or is gone, makes changes unknown and hides no row', async () => {
  for (const broken of [
    { unreadable: 'no key' },
    { previousUnreadable: 'no key' },
    { previousJson: undefined },
  ]) {
    const { changes, isUnknown } = await teller.tell(row(2, broken), mayGet(true));
    expect([changes, isUnknown]).toEqual([[], true]);
  }
});

test('blame looks back so far and no further, and says how far that was', async () => {
  let asked = 0;
  const rows = async ({ upTo = toRevision(0), limit }: LogQuery) => {
    asked += 1;
    const page = Array.from({ length: limit }, (_, at) => Number(upTo) - at).map((revision) =>
      row(revision, { json: bytesOf({ data: { k: `v${revision}`, old: 'x' } }), previousJson: undefined }),
    );
    return { rows: page, next: page.at(-1)?.revision };
  };
  const history = { rows, newest: async () => toRevision(1_000_000) } as Partial<History> as History;
  const parts = {
    ...{ registry, types, authorizer: alwaysAllow, store: {} as Store, now: () => new Date() },
    causesAmong: async () => new Map<Revision, Revision>(),
    births: NO_BIRTHS,
    ...{ historyOf: () => history, progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }) },
  };
  const request = { query: new URLSearchParams(), aborted: false } as AuthorizedResourceRequest;
  const key = { group: '', resource: '', namespace: '', name: 'configmaps:d:m' };
  const entry = await new Blames(parts, request).get(key);
  const { fields, lookedBackTo } = JSON.parse(entry?.json.toString() ?? '');
  expect(fields).toContainEqual(
    expect.objectContaining({ path: 'data.k', revision: '1000000', user: 'ann' }),
  );
  expect(fields).toContainEqual({ path: 'data.old', value: 'x' });
  expect(Number(lookedBackTo)).toBe(1_000_000 - 5000);
  expect(asked).toBeLessThan(15);
});
