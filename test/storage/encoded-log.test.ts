import { expect, test } from 'vitest';
import { EncodedLog } from '../../src/storage/encoded-log.ts';
import { StorageError } from '../../src/storage/errors.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from '../../src/storage/object-encoding.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import {
  type Change,
  type ChangeSink,
  MAX_PAGE_BYTES,
  mayHaveMore,
  type RevisionLog,
  type StoredObject,
  type Write,
} from '../../src/storage/revision-log.ts';
import { endTurn } from '../../src/util/turns.ts';

/** Writes backwards; what begins with a question mark waits to be answered, and what begins with a cross cannot be read. */
class Reversing implements ObjectEncoding {
  readonly waiting: (() => void)[] = [];
  decoded = 0;

  encode(_: unknown, { bytes }: { readonly bytes: Buffer }) {
    if (bytes.toString() === 'unwritable') throw new Error('no key');
    return { bytes: Buffer.from(bytes).reverse(), mediaType: 'text/reversed' };
  }

  handles(mediaType: string): boolean {
    return mediaType === 'text/reversed';
  }

  decode(_: unknown, { bytes }: { readonly bytes: Buffer }) {
    const plain = { bytes: Buffer.from(bytes).reverse(), mediaType: JSON_MEDIA_TYPE };
    this.decoded += 1;
    if (plain.bytes.toString().startsWith('x')) throw new Error('changed');
    if (plain.bytes.toString() === '!slow')
      for (const endsMs = performance.now() + 1; performance.now() < endsMs; );
    if (!plain.bytes.toString().startsWith('?')) return plain;
    return new Promise<typeof plain>((resolve) => this.waiting.push(() => resolve(plain)));
  }

  formOf(): string {
    return 'text/reversed';
  }
}

const never = new AbortController().signal;
const reversed = (text: string) => ({ bytes: Buffer.from(text).reverse(), mediaType: 'text/reversed' });
const NO_JSON = Buffer.alloc(0);

function stored(revision: number, text: string): StoredObject {
  const key = { group: '', resource: 'secrets', namespace: 'default', name: `n${revision}` };
  return { key, uid: 'u', revision: toRevision(revision), json: NO_JSON, encoded: reversed(text) };
}

const plain = (revision: number, text: string): StoredObject => {
  const { encoded: _, ...rest } = stored(revision, text);
  return { ...rest, json: Buffer.from(text) };
};

const changed = (object: StoredObject): Change => ({
  ...object,
  ...{ verb: 'update', previous: undefined, committedAt: new Date(0) },
});

/** A log that has what it is given, and hands its sink to the test. */
function logOf(objects: readonly StoredObject[] = []) {
  const writes: Write[] = [];
  let sink: ChangeSink | undefined;
  const log: RevisionLog = {
    committer: {
      commit: async (write) => {
        writes.push(write);
        return toRevision(1);
      },
    },
    feed: {
      run: async (_from, given) => {
        sink = given;
        await new Promise(() => {});
      },
      hurry: () => {},
    },
    reader: {
      currentRevision: async () => toRevision(9),
      compactedRevision: async () => toRevision(0),
      get: async () => objects[0],
      loadCurrent: async (begin, batch) => {
        begin(toRevision(1));
        batch([stored(1, 'of a host that was lost')]);
        begin(toRevision(9));
        batch(objects);
      },
      listAt: async () => ({ objects, remaining: 0 }),
      changesBetween: async () =>
        objects.map((one) => ({
          ...changed(one),
          previousJson: NO_JSON,
          previousEncoded: reversed('before'),
        })),
    },
  };
  const encoding = new Reversing();
  return { log: new EncodedLog(log, [encoding]), encoding, writes, sink: () => sink };
}

const text = ({ json, unreadable }: StoredObject): string => unreadable ?? json.toString();
const query = { resource: { group: '', resource: 'secrets' }, scope: {}, limit: 10 };

test('a write is encoded, and one that cannot be is refused with the reason', async () => {
  const { log, writes } = logOf();
  const write = {
    ...stored(1, ''),
    verb: 'create',
    expected: undefined,
    json: Buffer.from('abc'),
  } as unknown as Write;
  await log.committer.commit(write);
  expect(writes[0]?.encoded).toEqual({ bytes: Buffer.from('cba'), mediaType: 'text/reversed' });
  const refused = log.committer.commit({ ...write, json: Buffer.from('unwritable') });
  await expect(refused).rejects.toThrow(StorageError);
  await expect(refused).rejects.toMatchObject({ failure: { kind: 'unwritable', reason: 'no key' } });
  expect(writes).toHaveLength(1);
});

test('every read decodes, and reports what it cannot decode', async () => {
  const { log } = logOf([stored(1, 'one'), plain(2, 'two'), stored(3, 'x')]);
  const loaded: StoredObject[] = [];
  await log.reader.loadCurrent(
    () => loaded.splice(0),
    (batch) => loaded.push(...batch),
  );
  expect(loaded.map(text).sort()).toEqual(['changed', 'one', 'two']);
  expect(loaded.map(({ storedAs }) => storedAs)).toContain('text/reversed');
  expect(loaded.some((one) => 'encoded' in one)).toBe(false);
  const { objects } = await log.reader.listAt({ ...query, revision: toRevision(9) });
  expect(objects.map(text)).toEqual(['one', 'two', 'changed']);
  expect((await log.reader.get(objects[0]?.key ?? stored(1, '').key))?.json.toString()).toBe('one');
});

test('a long list is decoded in turns of a few milliseconds, in every way of reading it', async () => {
  // Each takes a while; a turn of the event loop is seen to pass in between.
  const many = Array.from({ length: 60 }, (_, n) => stored(n + 1, '!slow'));
  const { log, sink } = logOf(many);
  const recorder = new Recorder();
  void log.feed.run(toRevision(0), recorder, never);
  await endTurn();
  const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      timer = setImmediate(turn);
    };
    let timer = setImmediate(turn);
    await work();
    clearImmediate(timer);
    return turns;
  };
  const applied = async (): Promise<void> => {
    sink()?.apply(many.map(changed));
    while (recorder.applied.length < many.length) await endTurn();
  };
  const ways = {
    load: () =>
      log.reader.loadCurrent(
        () => {},
        () => {},
      ),
    list: () => log.reader.listAt({ ...query, revision: toRevision(9) }),
    changes: () => log.reader.changesBetween({ ...query, after: toRevision(0), upTo: toRevision(9) }),
    feed: applied,
  };
  for (const [name, work] of Object.entries(ways)) expect(await turnsOf(work), name).toBeGreaterThan(3);
});

test('an unknown form is reported by its name', async () => {
  const odd = { ...stored(1, ''), encoded: { bytes: NO_JSON, mediaType: 'text/odd' } };
  const found = await logOf([odd]).log.reader.get(odd.key);
  expect(found?.unreadable).toBe('it is stored as text/odd, which this server is not configured to read');
});

test('a page of changes is as long as it was in the database, with both states decoded', async () => {
  const { log } = logOf([stored(1, 'a'.repeat(MAX_PAGE_BYTES))]);
  const page = await log.reader.changesBetween({ ...query, after: toRevision(0), upTo: toRevision(9) });
  expect(page[0]?.previousJson?.toString()).toBe('before');
  expect(page[0]?.storedBytes).toBe(MAX_PAGE_BYTES + 'before'.length);
  expect(
    mayHaveMore(
      page.map((one) => ({ ...one, json: NO_JSON })),
      10,
    ),
  ).toBe(true);
});

class Recorder implements ChangeSink {
  readonly applied: string[] = [];
  loadedAt: Revision = toRevision(0);

  apply(changes: readonly Change[]): void {
    this.applied.push(...changes.map(text));
  }

  async reset(): Promise<Revision> {
    this.applied.push('reset');
    return this.loadedAt;
  }
}

async function following() {
  const parts = logOf();
  const recorder = new Recorder();
  void parts.log.feed.run(toRevision(0), recorder, never);
  await endTurn();
  const sink = parts.sink();
  if (sink === undefined) throw new Error('the feed does not run');
  return { ...parts, recorder, sink };
}

test('changes that are decoded at once are applied at once; behind one that waits for a key, all wait in their order', async () => {
  const { encoding, recorder, sink } = await following();
  sink.apply([changed(stored(1, 'one')), changed(plain(2, 'two'))]);
  expect(recorder.applied).toEqual(['one', 'two']);
  sink.apply([changed(stored(3, '?three'))]);
  sink.apply([changed(plain(4, 'four'))]);
  await endTurn();
  expect(recorder.applied).toEqual(['one', 'two']);
  for (const answer of encoding.waiting) answer();
  await endTurn();
  expect(recorder.applied).toEqual(['one', 'two', '?three', 'four']);
  sink.apply([changed(stored(5, 'five'))]);
  expect(recorder.applied.at(-1)).toBe('five');
});

test('what a server has written itself is known when it comes back, once, in the place that it was written for', async () => {
  const { log, encoding, recorder, sink } = await following();
  const mine = stored(3, 'mine');
  const write = {
    ...mine,
    verb: 'create',
    expected: undefined,
    json: Buffer.from('mine'),
  } as unknown as Write;
  await log.committer.commit(write);
  sink.apply([changed({ ...mine, key: { ...mine.key, name: 'moved' } })]);
  expect(encoding.decoded).toBe(1);
  sink.apply([changed(mine)]);
  expect(encoding.decoded).toBe(1);
  sink.apply([changed(mine)]);
  expect(encoding.decoded).toBe(2);
  expect(recorder.applied).toEqual(['mine', 'mine', 'mine']);
});

test('what was being decoded when the history was left is not applied to the one after it', async () => {
  const { encoding, recorder, sink } = await following();
  sink.apply([changed(stored(1, '?lost'))]);
  await sink.reset('rewound');
  sink.apply([changed(plain(2, 'new'))]);
  for (const answer of encoding.waiting) answer();
  await endTurn();
  expect(recorder.applied).toEqual(['reset', 'new']);
});

test('a state that is loaded anew is not overtaken by changes that it has already', async () => {
  const { log, recorder, sink } = await following();
  recorder.loadedAt = toRevision(5);
  const renewed = log.feed.renew();
  sink.apply([changed(plain(4, 'in the new state')), changed(plain(6, 'later'))]);
  await renewed;
  sink.apply([changed(plain(5, 'as well')), changed(plain(7, 'last'))]);
  expect(recorder.applied).toEqual(['reset', 'later', 'last']);
});

test('what is stored in another form than it would be now is outdated', () => {
  const { log } = logOf();
  expect(log.isOutdated(query.resource, 'text/reversed')).toBe(false);
  expect(log.isOutdated(query.resource, undefined)).toBe(true);
  expect(log.isOutdated(query.resource, 'text/other')).toBe(true);
});
