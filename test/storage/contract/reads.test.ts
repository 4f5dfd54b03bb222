import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Freshness, ListPage, ListQuery, Store } from '../../../src/storage/store.ts';
import {
  create,
  createMany,
  failure,
  hasData,
  inGroup,
  LATEST,
  newResource,
  SUBJECTS,
  type Subject,
  show,
  toWrite,
} from './subjects.ts';

/** What every Store promises about reads. */

const next = (revision: Revision, by = 1n): Revision => toRevision(revision + by);

const listOf = (resource: string, more: Partial<ListQuery> = {}): ListQuery => ({
  resource: inGroup(resource),
  scope: {},
  freshness: LATEST,
  limit: 0,
  ...more,
});

async function namesIn(store: Store, query: ListQuery): Promise<string[]> {
  return (await store.list(query)).entries.map(show);
}

describe.each(SUBJECTS)('%s', (_, openSubject) => {
  let subject: Subject;
  let store: Store;
  beforeAll(async () => {
    subject = await openSubject();
    ({ store } = subject);
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('names of all characters are listed, whole and in pages, in the order of their code points', async () => {
    const resource = newResource();
    const names = [
      'a',
      'z',
      '\ud7ff',
      '\ue000',
      '\uff21',
      '\uff21b',
      '\u{1f600}',
      '\u{1f600}b',
      '\u{10ffff}',
    ];
    for (const name of names.toReversed()) await store.commit(toWrite('create', { resource, name }));
    const whole = (await store.list(listOf(resource))).entries.map(({ name }) => name);
    expect(whole).toEqual(names);
    const { entries } = await store.list(
      listOf(resource, { scope: { namespace: 'default', name: '\u{1f600}' } }),
    );
    expect(entries.map(({ name }) => name)).toEqual(['\u{1f600}']);
    const paged: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: ListPage = await store.list(
        listOf(resource, { scope: { namespace: 'default' }, limit: 2, ...(after === '' ? {} : { after }) }),
      );
      paged.push(...page.entries.map(({ name }) => name));
      after = page.next;
    }
    expect(paged).toEqual(names);
  });

  test('a fresh read sees every write that was answered before it', async () => {
    const resource = newResource();
    const { key } = toWrite('create', { resource, name: 'a' });
    expect(await store.get(key, LATEST)).toBeUndefined();
    for (const data of ['one', 'two']) {
      const expected = (await store.get(key, LATEST))?.revision;
      const verb = expected === undefined ? 'create' : 'update';
      const more = expected === undefined ? { data } : { data, expected };
      const revision = await store.commit(toWrite(verb, { resource, name: 'a' }, more));
      const freshnesses: Freshness[] = [LATEST, { kind: 'not-older', revision }, { kind: 'any' }];
      for (const freshness of freshnesses) {
        expect((await store.get(key, freshness))?.revision).toBe(revision);
        const page = await store.list(listOf(resource, { freshness }));
        expect([page.revision >= revision, page.entries.map(show)]).toEqual([true, [`default/a=${data}`]]);
      }
    }
  });

  test('a list is in the order of namespace and name, and covers its scope', async () => {
    const resource = newResource();
    for (const [namespace, name] of [
      ['b', 'x'],
      ['a', 'y'],
      ['a-b', 'x'],
      ['a', 'x'],
      ['', 'x'],
    ] as const)
      await create(store, { resource, namespace, name });
    await create(store, { resource: newResource(), name: 'other' });
    const listed = (scope: ListQuery['scope']) => namesIn(store, listOf(resource, { scope }));
    expect(await listed({})).toEqual(['/x=x', 'a/x=x', 'a/y=x', 'a-b/x=x', 'b/x=x']);
    expect(await listed({ namespace: 'a' })).toEqual(['a/x=x', 'a/y=x']);
    expect(await listed({ namespace: 'a', name: 'y' })).toEqual(['a/y=x']);
    expect(await listed({ name: 'x' })).toEqual(['/x=x', 'a/x=x', 'a-b/x=x', 'b/x=x']);
    expect(await listed({ namespace: 'c' })).toEqual([]);
  });

  test('what is looked up by a field is what matches', async () => {
    const resource = newResource();
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries())
      await create(store, { resource, name }, at % 2 === 0 ? 'even' : 'odd');
    const matches = hasData('even');
    const sought = [{ of: 'field', name: 'data', value: 'even' } as const];
    for (const more of [{ matches }, { matches, sought }]) {
      expect(await namesIn(store, listOf(resource, more))).toEqual(['default/a=even', 'default/c=even']);
      const page = await store.list(listOf(resource, { ...more, limit: 1 }));
      expect(page.entries.map(show)).toEqual(['default/a=even']);
      const rest = await store.list(listOf(resource, { ...more, after: page.next ?? '' }));
      expect(rest.entries.map(show)).toEqual(['default/c=even']);
    }
  });

  test('pages of one revision are its state, with writes in between, and say how many follow', async () => {
    const resource = newResource();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await createMany(store, resource, names);
    let page = await store.list(listOf(resource, { limit: 3 }));
    const { revision } = page;
    const seen = page.entries.map(({ name }) => name);
    expect(page.remaining).toBe(4);
    for (let n = 0; page.next !== undefined; n += 1) {
      await create(store, { resource, name: `new-${n}` });
      const freshness = { kind: 'exact', revision } as const;
      page = await store.list(listOf(resource, { freshness, limit: 3, after: page.next }));
      expect(page.revision).toBe(revision);
      seen.push(...page.entries.map(({ name }) => name));
      if (page.next !== undefined) expect(page.remaining).toBe(names.length - seen.length);
    }
    expect(seen).toEqual(names);
  });

  test('a list at a revision shows the state at it, for each of the history', async () => {
    const target = { resource: newResource(), name: 'a' };
    const created = await create(store, target, 'one');
    const updated = await store.commit(toWrite('update', target, { expected: created, data: 'two' }));
    const deleted = await store.commit(toWrite('delete', target, { expected: updated }));
    const again = await create(store, target, 'three');
    const at = (revision: Revision) =>
      namesIn(store, listOf(target.resource, { freshness: { kind: 'exact', revision } }));
    await store.list(listOf(target.resource));
    expect(await Promise.all([created, updated, deleted, again].map(at))).toEqual([
      ['default/a=one'],
      ['default/a=two'],
      [],
      ['default/a=three'],
    ]);
  });

  test('a read of a later revision waits for it, until that revision cannot come any more or the read is given up', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'a' });
    const freshness = { kind: 'not-older', revision: next(revision) } as const;
    const waiting = store.list(listOf(resource, { freshness }));
    await create(store, { resource, name: 'b' });
    expect((await waiting).entries).toHaveLength(2);

    const far = { kind: 'not-older', revision: next(revision, 1_000_000n) } as const;
    const { key } = toWrite('create', { resource, name: 'a' });
    const gone = new AbortController();
    const caller = { signal: gone.signal, aborted: false };
    const abandoned = [
      store.get(key, far, caller),
      store.list(listOf(resource, { freshness: { ...far, kind: 'exact' }, caller })),
    ].map((read) => expect(read).rejects.toMatchObject(failure('abandoned')));
    gone.abort();
    await Promise.all(abandoned);
    await expect(store.get(key, far)).rejects.toMatchObject(failure('future', { requested: far.revision }));
  });
});
