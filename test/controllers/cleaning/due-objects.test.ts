import { expect, onTestFinished, test, vi } from 'vitest';
import type { ResourceOf } from '../../../src/api/names.ts';
import type { ConfigMap } from '../../../src/api/types/core/v1.ts';
import { DueObjects, type DueRule } from '../../../src/controllers/cleaning/due-objects.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { ObjectEventType } from '../../../src/storage/store.ts';
import { createTestClient } from '../../kit/client.ts';

const MAPS: ResourceOf<ConfigMap> = { group: '', resource: 'configmaps' };
const SECOND = 1000;
const never = new AbortController().signal;

/** Config maps that say in `data.at` when something is to be done with them, in seconds. */
function begin(act: DueRule<ConfigMap>['act'] = async () => undefined) {
  const acted: string[] = [];
  const errors: unknown[] = [];
  let nowMs = 0;
  let looks = 0;
  let revision = 0;
  const objects = new DueObjects<ConfigMap>({
    rule: {
      resource: MAPS,
      manager: 'test',
      mayBeDue: () => true,
      dueAt: ({ data }) => (data?.at == null ? undefined : Number(data.at) * SECOND),
      act: (entry, client) => {
        acted.push(`${entry.name}@${entry.revision}`);
        return act(entry, client);
      },
    },
    client: createTestClient({ definitions: [] }).client,
    now: () => {
      looks += 1;
      return new Date(nowMs);
    },
    onError: (error) => errors.push(error),
  });
  return {
    acted,
    errors,
    run: (signal: AbortSignal) => objects.run(signal),
    /** How often the clock was read since the last call. */
    looks: () => {
      const counted = looks;
      looks = 0;
      return counted;
    },
    tell: (type: ObjectEventType, name: string, at?: number): void => {
      revision += 1;
      const key = { ...MAPS, namespace: 'default', name };
      const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { at } };
      const json = Buffer.from(JSON.stringify(object));
      const entry = new CachedEntry({ key, uid: name, revision: toRevision(revision), json }, () => ({}));
      objects.note({ type, entry, revision: toRevision(revision) });
    },
    until: async (seconds: number): Promise<string[]> => {
      nowMs = seconds * SECOND;
      await objects.actOnDue(never);
      return acted.splice(0);
    },
  };
}

test('each object has its turn when its time has come, once', async () => {
  const { tell, until } = begin();
  tell('ADDED', 'late', 20);
  tell('ADDED', 'soon', 10);
  tell('ADDED', 'never');
  expect(await until(9)).toEqual([]);
  expect(await until(10)).toEqual(['soon@2']);
  expect(await until(19)).toEqual([]);
  expect(await until(60)).toEqual(['late@1']);
  expect(await until(600)).toEqual([]);
});

test('the newest state of an object decides, and one that is gone has no time', async () => {
  const { tell, until } = begin();
  tell('ADDED', 'a', 10);
  tell('ADDED', 'b', 10);
  tell('ADDED', 'c', 10);
  tell('MODIFIED', 'a', 30);
  tell('MODIFIED', 'b');
  tell('DELETED', 'c', 10);
  expect(await until(29)).toEqual([]);
  expect(await until(30)).toEqual(['a@4']);
});

test('an object whose work fails is tried again later, and does not delay others', async () => {
  let isBroken = true;
  const { tell, until, errors } = begin(async ({ name }) => {
    if (isBroken && name === 'a') throw new Error('broken');
    return undefined;
  });
  tell('ADDED', 'a', 10);
  tell('ADDED', 'b', 10);
  expect(await until(10)).toEqual(['a@1', 'b@2']);
  expect(errors).toHaveLength(1);
  isBroken = false;
  expect(await until(11)).toEqual([]);
  expect(await until(15)).toEqual(['a@1']);
  expect(await until(60)).toEqual([]);
});

test('what has to wait is asked again after the time that it named', async () => {
  let isUsed = true;
  const { tell, until } = begin(async () => (isUsed ? 20 * SECOND : undefined));
  tell('ADDED', 'a', 0);
  expect(await until(1)).toEqual(['a@1']);
  expect(await until(20)).toEqual([]);
  isUsed = false;
  expect(await until(21)).toEqual(['a@1']);
  expect(await until(60)).toEqual([]);
});

test('an object that changes while its turn is under way gets another', async () => {
  const kit = begin(async ({ revision }) => {
    if (revision === toRevision(1)) kit.tell('MODIFIED', 'a', 40);
    return undefined;
  });
  kit.tell('ADDED', 'a', 0);
  expect(await kit.until(1)).toEqual(['a@1']);
  expect(await kit.until(39)).toEqual([]);
  expect(await kit.until(40)).toEqual(['a@2']);
});

test('the clock is read each second while an object waits, and not at all while none does', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { run, tell, looks } = begin();
  const ended = new AbortController();
  const running = run(ended.signal);
  await vi.advanceTimersByTimeAsync(2000);
  looks();
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  expect(looks()).toBe(0);
  tell('ADDED', 'late', 3600);
  await vi.advanceTimersByTimeAsync(5 * SECOND);
  expect(looks()).toBeGreaterThanOrEqual(4);
  tell('DELETED', 'late');
  await vi.advanceTimersByTimeAsync(2000);
  looks();
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  expect(looks()).toBe(0);
  ended.abort();
  await running;
});
