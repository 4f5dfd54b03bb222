import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../../src/api/object-meta.ts';
import { alwaysAllow } from '../../../src/authz/authorizer.ts';
import { toStoredJson } from '../../../src/codec/stored-object.ts';
import { BlameStore } from '../../../src/history/blame/blame-store.ts';
import { FieldSetters } from '../../../src/history/blame/field-setters.ts';
import { changesBetween, leavesOf } from '../../../src/history/changes.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../../src/request/api-request.ts';
import type { History, LoggedRevision, LogQuery } from '../../../src/storage/history.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Store } from '../../../src/storage/store.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { cases } from '../../kit/cases.ts';
import { states } from '../changed-objects.ts';
import { NO_BIRTHS } from '../no-births.ts';

const parts = { registry: new Registry(), types: loadTypes(), authorizer: alwaysAllow, store: {} as Store };
const request = { query: new URLSearchParams(), aborted: false } as AuthorizedResourceRequest;
const attribution = { username: 'ann', userAgent: '', sourceAddress: '', requestId: '', fieldManager: 'f' };

/** Rows of an object that was created, and changed from each state to the next. */
function rowsOf(history: readonly JsonObject[]): LoggedRevision[] {
  return history.map((object, at) => ({
    key: { group: 'x', resource: 'things', namespace: 'd', name: 'm' },
    ...{ revision: toRevision(at + 1), uid: 'u', verb: at === 0 ? 'create' : 'update', attribution },
    previous: at === 0 ? undefined : toRevision(at),
    ...{ committedAt: new Date(0), at: '1970-01-01T00:00:00.000000Z', previousJson: undefined },
    json: toStoredJson(object as unknown as ApiObject),
  }));
}

async function blamed(history: readonly JsonObject[]): Promise<(readonly [string, string | undefined])[]> {
  const rows = rowsOf(history);
  const log = {
    newest: async () => toRevision(history.length),
    // Two of them on a page.
    rows: async ({ upTo = toRevision(0) }: LogQuery) => {
      const page = rows.filter(({ revision }) => revision <= upTo).toReversed();
      return { rows: page.slice(0, 2), next: page.length > 2 ? page[1]?.revision : undefined };
    },
  } as Partial<History> as History;
  const blames = new BlameStore(
    {
      ...{ ...parts, now: () => new Date(), historyOf: () => log },
      ...{ causesAmong: async () => new Map<Revision, Revision>(), births: NO_BIRTHS },
      progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }),
    },
    request,
  );
  const entry = await blames.get({ group: '', resource: '', namespace: '', name: 'things.x:d:m' });
  const { fields } = JSON.parse(entry?.json.toString() ?? '') as {
    fields: { path: string; revision?: string }[];
  };
  return fields.map(({ path, revision }) => [path, revision]);
}

/** Each state compared with the one before it, from the newest to the oldest, all of them. */
function expected(history: readonly JsonObject[]): (readonly [string, string | undefined])[] {
  const leaves = atOnce(leavesOf(history.at(-1) ?? {}));
  const found = new FieldSetters(leaves);
  for (let at = history.length - 1; at >= 0; at -= 1)
    atOnce(found.take(toRevision(at + 1), atOnce(changesBetween(history[at - 1], history[at])).changes));
  return leaves.map(({ path }) => [path, found.setterOf(path)?.toString()]);
}

const histories = fc
  .array(fc.tuple(states, fc.nat(2)), { minLength: 1, maxLength: 4 })
  .map((pairs) =>
    pairs.flatMap(([pair, managers]) =>
      pair.map(({ kind: _, metadata, ...rest }) => ({
        ...{ kind: 'Thing', apiVersion: 'x/v1', ...rest },
        metadata: { ...(metadata as JsonObject), managedFields: Array(managers).fill({ manager: 'm' }) },
      })),
    ),
  )
  .map((history) =>
    history.map((state) => JSON.parse(toStoredJson(state as unknown as ApiObject).toString())),
  );

test('of any history, blame names who each field was set by, as comparing all states with each other does', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history: JsonObject[]) => {
      expect(await blamed(history)).toEqual(expected(history));
    }),
    { numRuns: cases(300) },
  );
});

/** An update of the object. */
const rowOf = (revision: number, object: JsonObject): LoggedRevision => ({
  key: { group: 'x', resource: 'things', namespace: 'd', name: 'm' },
  ...{ revision: toRevision(revision), uid: 'u', verb: 'update', previous: toRevision(revision - 1) },
  ...{ committedAt: new Date(0), at: '1970-01-01T00:00:00.000000Z', attribution, previousJson: undefined },
  json: toStoredJson({ kind: 'Thing', apiVersion: 'x/v1', metadata: { name: 'm' }, ...object }),
});

test('blame looks back so far and no further, and says how far that was', async () => {
  let asked = 0;
  const rows = async ({ upTo = toRevision(0), limit }: LogQuery) => {
    asked += 1;
    const page = Array.from({ length: limit }, (_, at) => Number(upTo) - at).map((revision) =>
      rowOf(revision, { data: { k: `v${revision}`, old: 'x' } }),
    );
    return { rows: page, next: page.at(-1)?.revision };
  };
  const history = { rows, newest: async () => toRevision(1_000_000) } as Partial<History> as History;
  const longParts = {
    ...parts,
    causesAmong: async () => new Map<Revision, Revision>(),
    births: NO_BIRTHS,
    ...{ historyOf: () => history, progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }) },
  };
  const key = { group: '', resource: '', namespace: '', name: 'things.x:d:m' };
  const entry = await new BlameStore(longParts, request).get(key);
  const { fields, lookedBackTo } = JSON.parse(entry?.json.toString() ?? '');
  expect(fields).toContainEqual(
    expect.objectContaining({ path: 'data.k', revision: '1000000', user: 'ann' }),
  );
  expect(fields).toContainEqual({ path: 'data.old', value: 'x' });
  expect(Number(lookedBackTo)).toBe(1_000_000 - 5000);
  expect(asked).toBeLessThan(15);
});
