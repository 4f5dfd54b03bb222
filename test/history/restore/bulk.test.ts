import { expect, test } from 'vitest';
import { type Outcome, restoreAll } from '../../../src/history/restore/bulk.ts';
import type { PastObject } from '../../../src/history/restore/past-objects.ts';
import { TimeLimit } from '../../../src/history/restore/time-limit.ts';
import { define } from '../../../src/resources/define.ts';

/** Each of many objects has a result, also when others fail, and when the time is up. */
const definition = define({
  group: '',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.ConfigMap' }],
});

const past = (name: string, ...ownerUids: string[]): PastObject => ({
  ...{
    definition,
    namespace: 'ns',
    name,
    uid: name,
    ownerUids,
    revision: 1n as PastObject['revision'],
    sizeBytes: 1,
  },
  parse: () => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } }),
});

const TELLING = {
  withoutOwner: ({ name }: PastObject, owner: PastObject) => `${name} without ${owner.name}`,
  outOfTime: ({ name }: PastObject, wasBegun: boolean) => `${name} ${wasBegun ? 'begun' : 'not begun'}`,
};

const requestOf = (query: string, { signal } = new AbortController()) => ({
  query: new URLSearchParams(query),
  receivedAt: new Date(),
  signal,
  get aborted() {
    return signal.aborted;
  },
});

const limit = (query = '') => new TimeLimit(requestOf(query), 60_000);

const there = ({ name }: PastObject): Outcome<string> => ({ result: `${name} is there`, isThere: true });

test('what an object belongs to is there before it is written; without its owner it is not', async () => {
  const time = limit();
  const results = await restoreAll(
    [past('grandchild', 'child'), past('child', 'bad'), past('bad'), past('good')],
    {
      ...TELLING,
      time,
      restore: async (object) =>
        object.name === 'bad' ? { result: 'bad failed', isThere: false } : there(object),
    },
  );
  time.end();
  expect(results).toEqual(['bad failed', 'good is there', 'child without bad', 'grandchild without child']);
});

test.each([
  ['at most 24 are written at a time', 1, 24],
  ['of large ones two, because the steps of all of them take their turns together', 1_000_000, 2],
])('%s', async (_, sizeBytes, mostAtOnce) => {
  const time = limit();
  let underWay = 0;
  let most = 0;
  const objects = Array.from({ length: 200 }, (__, at) => ({ ...past(`o${at}`), sizeBytes }));
  await restoreAll(objects, {
    ...TELLING,
    time,
    restore: async (object) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      return there(object);
    },
  });
  time.end();
  expect(most).toBe(mostAtOnce);
});

test('when the time is up, the answer names the objects that are done, those under way and the others', async () => {
  const time = limit('timeout=20ms');
  const objects = [past('done'), past('stuck'), past('later', 'stuck')];
  const results = await restoreAll(objects, {
    ...TELLING,
    time,
    restore: (object) =>
      object.name === 'done' ? Promise.resolve(there(object)) : new Promise<Outcome<string>>(() => {}),
  });
  time.end();
  expect(results).toEqual(['done is there', 'stuck begun', 'later not begun']);
});

test('nothing is restored any more for a client that is gone', () => {
  const client = new AbortController();
  const time = new TimeLimit(requestOf('', client), 60_000);
  expect(time.aborted).toBe(false);
  client.abort();
  expect(time.aborted).toBe(true);
  time.end();
});
