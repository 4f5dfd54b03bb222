import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { ObjectEvent, Store, WatchQuery } from '../../../src/storage/store.ts';
import { Reader } from '../watch-cache/kit.ts';
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

/** What every Store promises about watches. */

/** A watch that the test reads; it ends with the test. */
async function open(store: Store, resource: string, more: Partial<WatchQuery>, reader = new Reader()) {
  const stop = new AbortController();
  const start = { kind: 'state', freshness: LATEST } as const;
  const query = { resource: inGroup(resource), scope: {}, start, bookmarks: false, ...more };
  const over = (await store.watch(query, stop.signal)).deliver(reader.take);
  over.catch(() => {});
  return {
    reader,
    over,
    stop,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await over.catch(() => {});
    },
  };
}

const from = (revision: Revision) => ({ start: { kind: 'after', revision } }) as const;

describe.each(SUBJECTS)('%s', (_, openSubject) => {
  let subject: Subject;
  let store: Store;
  beforeAll(async () => {
    subject = await openSubject();
    ({ store } = subject);
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  test('one that is resumed from any revision misses nothing and repeats nothing, from memory or history', async () => {
    const resource = newResource();
    const revisions = await createMany(store, resource, ['a', 'b', 'c', 'd']);
    const lines = ['a', 'b', 'c', 'd'].map((name, at) => `ADDED ${name} ${revisions[at]}`);
    for (const isForgotten of [false, true]) {
      if (isForgotten) await subject.forget();
      for (const [at, revision] of revisions.entries()) {
        await using watch = await open(store, resource, from(revision));
        await watch.reader.reached(lines.length - at - 1);
        expect(watch.reader.lines).toEqual(lines.slice(at + 1));
      }
    }
  });

  test('one that begins with the state tells it whole, then its end, then changes', async () => {
    const resource = newResource();
    const [a, b] = await createMany(store, resource, ['a', 'b']);
    await using watch = await open(store, resource, {});
    await watch.reader.reached(3);
    const c = await create(store, { resource, name: 'c' });
    await watch.reader.reached(4);
    const end = watch.reader.lines[2] ?? '';
    expect(end).toMatch(/^INITIAL_EVENTS_END \d+$/);
    expect(BigInt(end.split(' ')[1] ?? 0)).toBeGreaterThanOrEqual(b ?? 0n);
    expect(watch.reader.lines).toEqual([`ADDED a ${a}`, `ADDED b ${b}`, end, `ADDED c ${c}`]);
  });

  test('what enters the selector is ADDED, what leaves it is DELETED with the state before', async () => {
    const target = { resource: newResource(), name: 'a' };
    const states: string[] = [];
    const encoding = {
      id: 'states',
      encode: ({ type, entry, revision }: ObjectEvent) => {
        states.push(show(entry));
        return Buffer.from(`${type} ${revision}`);
      },
    };
    const created = await create(store, target, 'in');
    await using watch = await open(
      store,
      target.resource,
      { ...from(created), matches: hasData('in') },
      new Reader(encoding),
    );
    const revisions = [created];
    for (const data of ['in', 'out', 'out', 'in'])
      revisions.push(
        await store.commit(toWrite('update', target, { expected: revisions.at(-1) as Revision, data })),
      );
    revisions.push(
      await store.commit(toWrite('delete', target, { expected: revisions.at(-1) as Revision, data: 'in' })),
    );
    await watch.reader.reached(4);
    const [, changed, left, , back, gone] = revisions;
    expect(watch.reader.lines).toEqual([
      `MODIFIED ${changed}`,
      `DELETED ${left}`,
      `ADDED ${back}`,
      `DELETED ${gone}`,
    ]);
    expect(states).toEqual(Array.from({ length: 4 }, () => 'default/a=in'));
  });

  test('one of a scope shows nothing outside it', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, namespace: 'a', name: 'x' });
    const scopes = [{ namespace: 'a' }, { namespace: 'a', name: 'x' }, { name: 'x' }, {}];
    const watches = await Promise.all(
      scopes.map((scope) => open(store, resource, { scope, ...from(revision) })),
    );
    for (const [namespace, name] of [
      ['a', 'y'],
      ['b', 'x'],
    ] as const)
      await create(store, { resource, namespace, name });
    await create(store, { resource: newResource(), namespace: 'a', name: 'x' });
    await store.commit(toWrite('update', { resource, namespace: 'a', name: 'x' }, { expected: revision }));
    const counts = [2, 1, 2, 3];
    await Promise.all(watches.map(({ reader }, at) => reader.reached(counts[at] ?? 0)));
    expect(watches.map(({ reader }) => reader.lines.map((line) => line.split(' ', 2).join(' ')))).toEqual([
      ['ADDED y', 'MODIFIED x'],
      ['MODIFIED x'],
      ['ADDED x', 'MODIFIED x'],
      ['ADDED y', 'ADDED x', 'MODIFIED x'],
    ]);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
  });

  test('bookmarks say up to where everything is known, and a watch goes on from there', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'a' });
    await using watch = await open(store, resource, { ...from(revision), bookmarks: true });
    await watch.reader.reached(1);
    const [type, text = ''] = (watch.reader.lines[0] ?? '').split(' ');
    expect([type, BigInt(text) >= revision]).toEqual(['BOOKMARK', true]);
    const created = await create(store, { resource, name: 'b' });
    await using resumed = await open(store, resource, from(toRevision(text)));
    await resumed.reader.reached(1);
    expect(resumed.reader.lines).toEqual([`ADDED b ${created}`]);
  });

  test('a reader that is full gets nothing until it has room, then everything in order', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'start' });
    await using slow = await open(store, resource, from(revision));
    await using quick = await open(store, resource, from(revision));
    slow.reader.full = true;
    const names = Array.from({ length: 20 }, (_, n) => `n${n}`);
    const revisions = await createMany(store, resource, names);
    await quick.reader.reached(20);
    expect(slow.reader.lines).toHaveLength(1);
    slow.reader.drain();
    await slow.reader.reached(20);
    expect(slow.reader.lines).toEqual(names.map((name, at) => `ADDED ${name} ${revisions[at]}`));
  });

  test('one that is retired ends when its reader has all that was there, however slow it is', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'start' });
    const retirement = new AbortController();
    const watch = { ...from(revision), retired: retirement.signal };
    await using slow = await open(store, resource, watch);
    await using quick = await open(store, resource, watch);
    slow.reader.full = true;
    await createMany(store, resource, ['a', 'b', 'c']);
    await quick.reader.reached(3);
    retirement.abort();
    await quick.over;
    expect(slow.reader.lines).toHaveLength(1);
    slow.reader.drain();
    await slow.over;
    expect(slow.reader.lines).toEqual(quick.reader.lines);
    await using late = await open(store, resource, watch);
    await late.over;
    expect(late.reader.lines).toEqual(quick.reader.lines);
  });

  test('a reader that throws ends its own watch with what it threw', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'a' });
    const encode = () => {
      throw new Error('cannot be encoded');
    };
    await using broken = await open(store, resource, from(revision), new Reader({ id: 'broken', encode }));
    await using other = await open(store, resource, from(revision));
    await createMany(store, resource, ['b', 'c']);
    await expect(broken.over).rejects.toThrow('cannot be encoded');
    await other.reader.reached(2);
  });

  test('one that is stopped ends without an error, also before it began', async () => {
    const resource = newResource();
    const revision = await create(store, { resource, name: 'a' });
    const { over, stop } = await open(store, resource, from(revision));
    stop.abort();
    await over;
    const query = { resource: inGroup(resource), scope: {}, bookmarks: false } as const;
    for (const start of [
      { kind: 'after', revision },
      { kind: 'state', freshness: LATEST },
    ] as const) {
      const reader = new Reader();
      await (await store.watch({ ...query, start }, AbortSignal.abort())).deliver(reader.take);
      expect(reader.lines).toEqual([]);
    }
  });

  test('an iteration gets the same events as one to whom they are delivered', async () => {
    const resource = newResource();
    await createMany(store, resource, ['a', 'b']);
    const stop = new AbortController();
    const start = { kind: 'state', freshness: LATEST } as const;
    const stream = await store.watch(
      { resource: inGroup(resource), scope: {}, start, bookmarks: false },
      stop.signal,
    );
    const seen: string[] = [];
    for await (const events of stream) {
      for (const event of events)
        seen.push('entry' in event ? `${event.type} ${event.entry.name}` : event.type);
      if (seen.length === 3) await create(store, { resource, name: 'c' });
      if (seen.length === 4) stop.abort();
    }
    expect(seen).toEqual(['ADDED a', 'ADDED b', 'INITIAL_EVENTS_END', 'ADDED c']);
  });

  test('from before the history that is kept there is neither a list nor a watch, and watches end', async () => {
    const resource = newResource();
    const [first, last] = await createMany(store, resource, ['a', 'b']);
    await using watch = await open(store, resource, from(last as Revision));
    await subject.compact();
    await expect(watch.over).rejects.toMatchObject(failure('compacted'));
    const revision = first as Revision;
    await expect(open(store, resource, from(revision))).rejects.toMatchObject(failure('compacted'));
    await expect(
      store.list({
        resource: inGroup(resource),
        scope: {},
        freshness: { kind: 'exact', revision },
        limit: 0,
      }),
    ).rejects.toMatchObject(failure('compacted'));
    await using resumed = await open(store, resource, from(last as Revision));
    const created = await create(store, { resource, name: 'c' });
    await resumed.reader.reached(1);
    expect(resumed.reader.lines).toEqual([`ADDED c ${created}`]);
  });
});
