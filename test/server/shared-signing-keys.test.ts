import { expect, test } from 'vitest';
import { SharedSigningKeys } from '../../src/server/threads/shared-signing-keys.ts';
import type { StoredSigningKey } from '../../src/storage/signing-keys.ts';

test('threads that look within a second share a query, and one that failed is asked again', async () => {
  let nowMs = 0;
  let queries = 0;
  let isAway = false;
  const list = async (): Promise<readonly StoredSigningKey[]> => {
    queries += 1;
    if (isAway) throw new Error('the database is away');
    return [{ id: `${queries}`, pem: '', signs: true, madeAt: '', signsFrom: '' }];
  };
  const shared = new SharedSigningKeys({ list }, () => nowMs);
  const look = async (atMs: number): Promise<string | undefined> => {
    nowMs = atMs;
    return (await shared.list())[0]?.id;
  };
  // Eight threads that each look once a second.
  const seen = new Set<string | undefined>();
  for (let second = 0; second < 5; second += 1)
    for (let thread = 0; thread < 8; thread += 1) seen.add(await look(second * 1001 + thread * 100));
  expect(queries).toBe(5);
  expect(seen).toEqual(new Set(['1', '2', '3', '4', '5']));
  isAway = true;
  await expect(look(10_000)).rejects.toThrow('away');
  isAway = false;
  expect(await look(10_001)).toBe('7');
});
