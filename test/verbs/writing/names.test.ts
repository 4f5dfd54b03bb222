import { expect, test } from 'vitest';
import { alreadyExists, StatusError } from '../../../src/api/status.ts';
import { tryNames } from '../../../src/verbs/writing/retries.ts';

const NAMELESS = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'm-' } };

/** The first names are taken. */
function taken(times: number) {
  let attempts = 0;
  return async (): Promise<number> => {
    attempts += 1;
    if (attempts <= times) throw alreadyExists({ group: '', resource: 'configmaps' }, 'm-x');
    return attempts;
  };
}

test('a name that the server makes up is made up again when it is taken, unless a gate has it otherwise', async () => {
  expect(await tryNames(NAMELESS, taken(3))).toBe(4);
  await expect(tryNames(NAMELESS, taken(1), false)).rejects.toThrow(StatusError);
  expect(await tryNames(NAMELESS, taken(0), false)).toBe(1);
});

test('a name that the client chose is tried once', async () => {
  await expect(tryNames({ ...NAMELESS, metadata: { name: 'm' } }, taken(1))).rejects.toThrow(StatusError);
});
