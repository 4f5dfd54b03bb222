import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/storage/store.ts';
import { create, failure, LATEST, newResource, SUBJECTS, type Subject, toWrite } from './subjects.ts';

/** What every Store promises about writes. */

describe.each(SUBJECTS)('%s', (_, openSubject) => {
  let subject: Subject;
  let store: Store;
  beforeAll(async () => {
    subject = await openSubject();
    ({ store } = subject);
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('revisions rise, and a write that expected another state says which revision is live', async () => {
    const target = { resource: newResource(), name: 'a' };
    const created = await create(store, target);
    await expect(create(store, target)).rejects.toMatchObject(failure('exists', { current: created }));
    const updated = await store.commit(toWrite('update', target, { expected: created }));
    expect(updated).toBeGreaterThan(created);
    for (const verb of ['update', 'delete'] as const)
      await expect(store.commit(toWrite(verb, target, { expected: created }))).rejects.toMatchObject(
        failure('conflict', { current: updated }),
      );
    await store.commit(toWrite('delete', target, { expected: updated }));
    for (const verb of ['update', 'delete'] as const)
      await expect(store.commit(toWrite(verb, target, { expected: updated }))).rejects.toMatchObject(
        failure('not-found', { key: toWrite(verb, target).key }),
      );
    expect(await create(store, target)).toBeGreaterThan(updated);
  });

  test('of many that expect the same state, one is made', async () => {
    const target = { resource: newResource(), name: 'a' };
    const expected = await create(store, target);
    const tries = Array.from({ length: 10 }, () => store.commit(toWrite('update', target, { expected })));
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(failure('conflict'));
  });

  test('a value has one holder, and is free again when that holder lets go of it', async () => {
    const resource = newResource();
    const port = { pool: `${resource}-ports`, value: '80' };
    const holds = [{ ...port, kept: false }];
    const created = await store.commit(toWrite('create', { resource, name: 'a' }, { holds }));
    const other = toWrite('create', { resource, name: 'b' }, { holds });
    await expect(store.commit(other)).rejects.toMatchObject(failure('taken', { value: port }));
    expect(await store.get(other.key, LATEST)).toBeUndefined();
    await store.commit(toWrite('delete', { resource, name: 'a' }, { expected: created, holds: [] }));
    await store.commit(other);
  });

  test('a write whose caller has gone is not made', async () => {
    const write = toWrite('create', { resource: newResource(), name: 'a' });
    await expect(store.commit({ ...write, caller: { aborted: true } })).rejects.toMatchObject(
      failure('abandoned'),
    );
    expect(await store.get(write.key, LATEST)).toBeUndefined();
  });
});
