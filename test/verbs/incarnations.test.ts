import { expect, test } from 'vitest';
import type { GroupResource } from '../../src/api/names.ts';
import type { History, LoggedRevision, LogQuery } from '../../src/storage/history.ts';
import type { ObjectKey } from '../../src/storage/key.ts';
import { NO_REVISION, toRevision } from '../../src/storage/revision.ts';
import type { WriteVerb } from '../../src/storage/revision-log.ts';
import type { Entry } from '../../src/storage/store.ts';
import { Births, earlierLife } from '../../src/verbs/incarnations.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const SECRETS = { group: '', resource: 'secrets' };
const ELSEWHERE = { group: '', resource: 'events' };

const row = (revision: number, verb: WriteVerb): LoggedRevision =>
  ({
    revision: toRevision(revision),
    verb,
    at: `at ${revision}`,
  }) as Partial<LoggedRevision> as LoggedRevision;

/** The namespace shop, whose rows are these; `live`: its newest, where it is there. Pages have one row. */
function births(rows: readonly LoggedRevision[], live: number | undefined) {
  const asked: LogQuery[] = [];
  const log: Pick<History, 'rows' | 'newest' | 'revisionAt'> = {
    newest: async () => toRevision(100),
    revisionAt: async () => undefined,
    rows: async (query) => {
      asked.push(query);
      const { upTo = NO_REVISION } = query;
      const [first, ...rest] = rows.filter(({ revision }) => revision <= upTo).toReversed();
      const found = first !== undefined && (query.verb === undefined || query.verb === first.verb);
      return { rows: found ? [first] : [], next: rest.length > 0 ? first?.revision : undefined };
    },
  };
  const other = { ...log, revisionAt: async (at: string) => (at === 'at 31' ? toRevision(7) : undefined) };
  const get = async ({ resource }: ObjectKey): Promise<Entry | undefined> =>
    live === undefined || resource !== 'namespaces'
      ? undefined
      : ({ uid: 'u', revision: toRevision(live) } as Partial<Entry> as Entry);
  const historyOf = ({ resource }: GroupResource) => (resource === 'events' ? other : log);
  return { births: new Births({ store: { get }, historyOf }), asked };
}

const SHOP = { ...NAMESPACES, namespace: '', name: 'shop' };
const TWO_LIVES = [row(10, 'create'), row(30, 'delete'), row(31, 'create'), row(40, 'update')];

/** Of a client with the right to list Secrets in shop, and these besides. */
const from = (revision: number, parts: { births: Births }, rights: readonly string[] = []) =>
  earlierLife(
    {
      ...{ verb: 'list', storage: SECRETS, namespaced: true },
      target: { ...SECRETS, version: 'v1', namespace: 'shop', name: '', subresource: '', subpath: '' },
    },
    toRevision(revision),
    {
      ...parts,
      may: (verb, { resource, namespace, name }) =>
        rights.includes(`${verb} ${resource} ${namespace}/${name}`),
    },
  );

test('what is behind the last write of a namespace asks neither the log nor the authorizer', async () => {
  const parts = births(TWO_LIVES, 40);
  expect(await from(40, parts)).toBeUndefined();
  expect(parts.asked).toEqual([]);
});

test('the log is asked once for the birth of a namespace', async () => {
  const parts = births(TWO_LIVES, 40);
  for (const revision of [31, 30, 39]) expect(await from(revision, parts)).toBeUndefined();
  expect(await from(29, parts)).toMatchObject({ before: 30n });
  // The rows 40 and 31.
  expect(parts.asked).toHaveLength(2);
});

test('a namespace that is not there has a past up to its deletion', async () => {
  const parts = births(TWO_LIVES.slice(0, 2), undefined);
  expect(await from(30, parts)).toBeUndefined();
  expect(await from(29, parts)).toMatchObject({ before: 30n });
  for (const right of ['list secrets /', 'recall namespaces /shop'])
    expect(await from(29, parts, [right])).toBeUndefined();
  // A right within the namespace may be one that its next owner gives.
  expect(await from(29, parts, ['recall namespaces shop/shop'])).toMatchObject({ before: 30n });
});

test('a namespace that is older than the history that is kept has no earlier life in it', async () => {
  expect(await from(5, births([row(40, 'update')], 40))).toBeUndefined();
  expect(await from(5, births([], undefined))).toBeUndefined();
});

test('a server whose memory is behind takes the newest life from the log', async () => {
  expect(await from(20, births(TWO_LIVES, undefined))).toMatchObject({ before: 30n });
});

test('in the log of another database a life begins at the same moment', async () => {
  const parts = births(TWO_LIVES, 40);
  expect(await parts.births.before(SHOP, ELSEWHERE)).toBe(7n);
  // A revision of that log tells nothing of the one that the namespace is in.
  expect(await births(TWO_LIVES, 40).births.known(SHOP, ELSEWHERE, toRevision(50))).toBeUndefined();
});

test('a right by one name in all namespaces begins where the last object of that name went', async () => {
  const parts = births(TWO_LIVES, 40);
  const target = { ...SECRETS, version: 'v1', namespace: '', name: 'key', subresource: '', subpath: '' };
  const right = { verb: 'watch', target, storage: SECRETS, namespaced: true };
  const all = (verb: string, { name }: { name: string }): boolean => verb === 'watch' && name === '';
  expect(await earlierLife(right, toRevision(29), { ...parts, may: () => false })).toMatchObject({
    before: 30n,
  });
  expect(await earlierLife(right, toRevision(30), { ...parts, may: () => false })).toBeUndefined();
  expect(await earlierLife(right, toRevision(29), { ...parts, may: all })).toBeUndefined();
});
