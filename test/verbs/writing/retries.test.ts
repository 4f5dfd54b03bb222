import { expect, test } from 'vitest';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry, Store } from '../../../src/storage/store.ts';
import { endTurn } from '../../../src/util/turns.ts';
import type { Read } from '../../../src/verbs/writing/change.ts';
import { Retries } from '../../../src/verbs/writing/retries.ts';
import type { WriteCall } from '../../../src/verbs/writing/write-call.ts';

const WRITES = 100;
const call = { definition: configmaps, namespace: 'default' } as unknown as WriteCall;

/** A store of one object, which each successful attempt changes. */
class OneObject {
  attempts = 0;
  #revision = 1;

  readonly store = {
    get: async () => ({ revision: toRevision(this.#revision) }) as Entry,
  } as unknown as Store;

  /** Takes a turn of the event loop, as a commit does. @throws StorageError `conflict` */
  async change(read: Read | undefined): Promise<void> {
    this.attempts += 1;
    const expected = read?.entry.revision;
    await endTurn();
    const current = toRevision(this.#revision);
    const key = { group: '', resource: 'configmaps', namespace: 'default', name: 'm' };
    if (expected !== current) throw new StorageError({ kind: 'conflict', key, current });
    this.#revision += 1;
  }
}

test('many writes of one object at once all succeed, each at its second attempt', async () => {
  const object = new OneObject();
  const retries = new Retries();
  const write = () => retries.tryStates(object.store, call, 'm', (read) => object.change(read));
  await Promise.all(Array.from({ length: WRITES }, write));
  expect(object.attempts).toBe(2 * WRITES - 1);
});

test('a write that fails lets those behind it go on', async () => {
  const object = new OneObject();
  const retries = new Retries();
  const write = (at: number) =>
    retries.tryStates(object.store, call, 'm', async (read) => {
      if (read?.fresh === true && at % 2 === 1) throw new Error('refused');
      await object.change(read);
    });
  const outcomes = await Promise.allSettled(Array.from({ length: WRITES }, (_, at) => write(at)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(WRITES / 2);
});
