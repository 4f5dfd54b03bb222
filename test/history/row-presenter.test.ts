import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ReadRights } from '../../src/history/read-rights.ts';
import { RowPresenter } from '../../src/history/row-presenter.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { LoggedRevision } from '../../src/storage/history.ts';
import { toRevision } from '../../src/storage/revision.ts';

const registry = new Registry();
const types = loadTypes();
const presenter = new RowPresenter({ registry, types });

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

const mayGet = (may: boolean): ReadRights =>
  ({ mayGet: async () => may }) as Partial<ReadRights> as ReadRights;

const SEALED = 'application/x-encrypted; provider=aesgcm; key="1"';

test.each([
  ['written', { storedAs: SEALED }],
  ['before', { previousStoredAs: SEALED }],
])(
  'what is encrypted at rest, %s, shows that it changed, and no value, to a client that may not get it',
  async (_, stored) => {
    const shown = async (may: boolean) => (await presenter.present(row(2, stored), mayGet(may))).changes;
    expect(await shown(true)).toEqual([{ path: 'data.k', old: 'old', new: 'new' }]);
    expect(await shown(false)).toEqual([{ path: 'data.k', hidden: true }]);
  },
);

test('a Secret in a whole object is cut out of it, with what kubectl keeps of it', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":…}', kept: 'x' };
  const secret = bytesOf({ metadata: { name: 'm', annotations }, data: { k: 'v' }, stringData: { k: 'v' } });
  const key = { group: '', resource: 'secrets', namespace: 'd', name: 'm' };
  const created = row(2, { key, verb: 'create', json: secret, previous: undefined, previousJson: undefined });
  const { changes } = await presenter.present(created, mayGet(false));
  const whole = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', annotations: { kept: 'x' } } };
  expect(changes).toEqual([{ path: '', new: whole, hidden: true }]);
  const annotated = row(2, { key, json: secret, previousJson: bytesOf({}) });
  expect((await presenter.present(annotated, mayGet(false))).changes).toEqual([
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
    const { changes, isUnknown } = await presenter.present(row(2, broken), mayGet(true));
    expect([changes, isUnknown]).toEqual([[], true]);
  }
});
