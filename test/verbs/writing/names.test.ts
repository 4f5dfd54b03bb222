import { expect, test } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { tryNames } from '../../../src/verbs/writing/commits.ts';

const NAMELESS = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'm-' } };
const key = { group: '', resource: 'configmaps', namespace: 'default', name: 'm-x' };

/** The first names are taken. */
function taken(times: number) {
  let attempts = 0;
  return async (): Promise<number> => {
    attempts += 1;
    if (attempts <= times) throw new StorageError({ kind: 'exists', key, current: toRevision(1) });
    return attempts;
  };
}

test('a name that the server makes up is made up again when it is taken, unless a gate has it otherwise', async () => {
  expect(await tryNames(NAMELESS, taken(3))).toBe(4);
  await expect(tryNames(NAMELESS, taken(1), false)).rejects.toThrow(StorageError);
  expect(await tryNames(NAMELESS, taken(0), false)).toBe(1);
});

test('a name that somebody chose is tried once', async () => {
  await expect(tryNames({ ...NAMELESS, metadata: { name: 'm' } }, taken(1))).rejects.toThrow(StorageError);
});
