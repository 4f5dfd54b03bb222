import { expect, test } from 'vitest';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import { parseStored, toStoredJson } from '../../../src/codec/stored-object.ts';
import { ConvertedEntries } from '../../../src/custom-resources/conversion/converted-entries.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry } from '../../../src/storage/store.ts';
import { V1, V2, widget } from './converter-kit.ts';

const toEntry = (object: ApiObject, revision: number): Entry =>
  new CachedEntry(
    {
      key: { group: 'example.com', resource: 'widgets', namespace: 'n', name: object.metadata.name ?? '' },
      uid: object.metadata.uid ?? '',
      revision: toRevision(revision),
      json: toStoredJson(object),
    },
    () => ({}),
  );

/** A conversion that records what it is asked, and answers when it is let. */
function startConversion() {
  const asked: { readonly names: string[]; readonly answer: PromiseWithResolvers<void> }[] = [];
  const entries = new ConvertedEntries({
    parse: (entry) => ({ entry, object: parseStored(entry.json), isOutdated: false }),
    convert: async (objects) => {
      const answer = Promise.withResolvers<void>();
      asked.push({ names: objects.map(({ metadata }) => metadata.name ?? ''), answer });
      await answer.promise;
      return objects.map((object) => ({ ...object, apiVersion: V2 }));
    },
    finish: ({ entry, object }) => toEntry(object, Number(entry.revision)),
  });
  return { asked, entries };
}

const versions = (entries: readonly Entry[]): string[] =>
  entries.map(({ name, json }) => `${name} ${parseStored(json).apiVersion}`);

const [A, B, C] = ['a', 'b', 'c'].map((name, at) => toEntry(widget(name, V1), at + 1)) as [
  Entry,
  Entry,
  Entry,
];

test('those who want a state at the same time share the question, and those who come later need none', async () => {
  const { asked, entries } = startConversion();
  const first = entries.readAll([A, B]);
  const second = entries.readAll([C, B]);
  await expect.poll(() => asked.map(({ names }) => names)).toEqual([['a', 'b'], ['c']]);
  for (const { answer } of asked) answer.resolve();
  expect(versions(await first)).toEqual([`a ${V2}`, `b ${V2}`]);
  expect(versions(await second)).toEqual([`c ${V2}`, `b ${V2}`]);
  const third = entries.readAll([B, A, C]);
  expect(third).not.toBeInstanceOf(Promise);
  expect(versions(await third)).toEqual([`b ${V2}`, `a ${V2}`, `c ${V2}`]);
  expect(asked).toHaveLength(2);
});

test('another state of an object is another question, and so is another conversion', async () => {
  const { asked, entries } = startConversion();
  void entries.readAll([A]);
  void entries.readAll([toEntry(widget('a', V1), 9)]);
  await expect.poll(() => asked).toHaveLength(2);
  const other = startConversion();
  void other.entries.readAll([A]);
  await expect.poll(() => other.asked).toHaveLength(1);
});

test('a failure reaches all callers that wait for it, and the next one asks again', async () => {
  const { asked, entries } = startConversion();
  const waiting = [entries.readAll([A, B]), entries.readAll([B])];
  await expect.poll(() => asked).toHaveLength(1);
  asked[0]?.answer.reject(new Error('out of paint'));
  for (const one of waiting) await expect(one).rejects.toThrow('out of paint');
  const again = entries.readAll([A]);
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]?.answer.resolve();
  expect(versions(await again)).toEqual([`a ${V2}`]);
});
