import { expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import type { PoolValue } from '../../../src/storage/allocations.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { Hold, Write } from '../../../src/storage/revision-log.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

const CONFIGMAPS = { group: '', resource: 'configmaps' };
const value = (port: number): PoolValue => ({ pool: 'NodePort', value: String(port) });
const claim = (port: number): Hold => ({ ...value(port), kept: false });
const keep = (port: number): Hold => ({ ...value(port), kept: true });

const holding = (name: string, holds: readonly Hold[], expected?: Revision): Write => ({
  ...write(expected === undefined ? 'create' : 'update', name, expected),
  holds,
});

async function held(database: TestDatabase): Promise<string[]> {
  const text = "SELECT name || ' ' || value AS line FROM allocations ORDER BY name, value";
  return (await database.query<{ line: string }>(text)).map(({ line }) => line);
}

const failureOf = (error: unknown): unknown => (error instanceof StorageError ? error.failure : error);

test('a value is claimed with the write of its object, changes with it, and is free once the object is gone', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const created = await log.committer.commit(holding('a', [claim(1), claim(2)]));
  expect(await held(database)).toEqual(['a 1', 'a 2']);
  const untouched = await log.committer.commit(write('update', 'a', created));
  expect(await held(database)).toEqual(['a 1', 'a 2']);
  const changed = await log.committer.commit(holding('a', [keep(2), claim(3)], untouched));
  expect(await held(database)).toEqual(['a 2', 'a 3']);
  expect(await log.allocations.holder(value(3))).toEqual({ ...CONFIGMAPS, namespace: 'default', name: 'a' });
  await log.committer.commit({ ...write('delete', 'a', changed), holds: [] });
  expect(await held(database)).toEqual([]);
  expect(await log.allocations.holder(value(3))).toBeUndefined();
  await log.close();
});

test('a write that claims what another holds fails alone, and says which value it was', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(holding('a', [claim(1)]));
  const outcomes = await Promise.allSettled([
    log.committer.commit(holding('b', [claim(2), claim(1)])),
    log.committer.commit(holding('c', [claim(3)])),
    log.committer.commit(write('create', 'd')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(outcomes[0]?.status === 'rejected' && failureOf(outcomes[0].reason)).toMatchObject({
    kind: 'taken',
    value: value(1),
  });
  expect(await held(database)).toEqual(['a 1', 'c 3']);
  await log.close();
});

test('a write that is refused for another reason claims and releases nothing', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const revision = await log.committer.commit(holding('a', [claim(1)]));
  const again = log.committer.commit(holding('a', [claim(2)]));
  await expect(again).rejects.toMatchObject({ failure: { kind: 'exists' } });
  const stale = log.committer.commit({ ...write('delete', 'a', (revision - 1n) as Revision), holds: [] });
  await expect(stale).rejects.toMatchObject({ failure: { kind: 'conflict' } });
  expect(await held(database)).toEqual(['a 1']);
  await log.close();
});

test('of many who claim one value at once on two servers, one gets it', async () => {
  await using database = await createTestDatabase();
  const logs = [openLog(database.url), openLog(database.url)];
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, n) => logs[n % 2]?.committer.commit(holding(`s${n}`, [claim(n % 5)]))),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  const reasons = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
  expect(
    new Set(reasons.map((reason) => failureOf(reason) as { kind: string }).map(({ kind }) => kind)),
  ).toEqual(new Set(['taken']));
  expect(await held(database)).toHaveLength(5);
  await Promise.all(logs.map((log) => log.close()));
});

test('what an object holds from before is not contested, though another has it on record', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(holding('a', [claim(1)]));
  const old = await log.committer.commit(write('create', 'b'));
  await log.committer.commit(holding('b', [keep(1), keep(2)], old));
  expect(await held(database)).toEqual(['a 1', 'b 2']);
  await log.close();
});

test('repair records what live objects hold, releases values without a holder, and names values with two', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const [a, b, c] = [
    await log.committer.commit(write('create', 'a')),
    await log.committer.commit(holding('b', [claim(2), claim(9)])),
    await log.committer.commit(write('create', 'c')),
  ];
  await database.query(
    `INSERT INTO allocations VALUES ('NodePort', '7', '', 'configmaps', 'default', 'gone', now()),
      ('NodePort', '8', '', 'others', 'default', 'gone', now())`,
  );
  const holder = (name: string, revision: Revision, ...ports: number[]) => ({
    ...{ namespace: 'default', name, revision },
    values: ports.map(value),
  });
  const stale = (c - 1n) as Revision;
  const report = await log.allocations.repair(CONFIGMAPS, [
    holder('a', a, 1, 2),
    holder('b', b, 2),
    holder('c', stale, 5),
  ]);
  const line = ({ name, value: port }: { name: string; value: string }): string => `${name} ${port}`;
  expect(report.added.map(line)).toEqual(['a 1']);
  expect(report.removed.map(line).sort()).toEqual(['b 9', 'gone 7']);
  expect(report.contested.map(line)).toEqual(['a 2']);
  expect(await held(database)).toEqual(['a 1', 'b 2', 'gone 8']);
  await log.close();
});

test('a database that cannot be asked is reported as such, and not as a failure of the server', async () => {
  const log = openLog(`postgres://absent@127.0.0.1:${await freePort()}/nothing`);
  const away = { failure: { kind: 'unavailable' } };
  await expect(log.allocations.held('NodePort')).rejects.toMatchObject(away);
  await expect(log.allocations.holder(value(1))).rejects.toMatchObject(away);
  await log.close();
});
