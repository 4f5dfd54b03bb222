import { expect, test } from 'vitest';
import { CopySocket } from '../../../src/storage/postgres/read/copy-socket.ts';
import { connectToLoad, copyLive, type LoadConnection } from '../../../src/storage/postgres/read/load.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';
import { startBlackHole } from '../../kit/black-hole.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

const SIZES = [0, 10, 7000, 300_000, 20, 900_000, ...Array.from({ length: 200 }, (_, at) => at * 60)];

async function fill(database: TestDatabase): Promise<StoredObject[]> {
  const log = openLog(database.url);
  const written = await Promise.all(
    SIZES.map(async (size, at) => {
      const order = write('create', `object-${String(at).padStart(5, '0')}`, undefined, 'ü'.repeat(size));
      const { key, uid } = order;
      return { key, uid, json: order.json ?? Buffer.alloc(0), revision: await log.committer.commit(order) };
    }),
  );
  await log.close();
  return written;
}

async function load(connection: LoadConnection): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  await connection.client.query('BEGIN');
  await copyLive(connection, (batch) => objects.push(...batch));
  await connection.client.query('COMMIT');
  return objects;
}

test('what is loaded is what was written, whether rows are read past the driver or through it', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const written = await fill(database);
  const connection = await connectToLoad({ urls: [database.url], poolSize: 1 });
  expect(await load(connection)).toEqual(written);
  // As over TLS, where the bytes on the socket are not the driver's.
  expect(await load({ ...connection, socket: new CopySocket() })).toEqual(written);
  const shared = await load({ ...connection, sharesLoads: true });
  expect(shared).toEqual(written);
  expect(shared.every(({ json }) => json.buffer instanceof SharedArrayBuffer)).toBe(true);
  await connection.close();
});

test('a load that fails leaves the connection in order', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  await fill(database);
  const connection = await connectToLoad({ urls: [database.url], poolSize: 1 });
  const { client } = connection;
  const fail = (): never => {
    throw new Error('no room');
  };
  await client.query('BEGIN');
  await expect(copyLive(connection, fail)).rejects.toThrow('no room');
  await client.query('COMMIT');
  await client.query('BEGIN');
  await client.query('ALTER TABLE objects RENAME TO tails');
  await expect(copyLive(connection, () => {})).rejects.toThrow('objects');
  await client.query('ROLLBACK');
  expect(await load(connection)).toHaveLength(SIZES.length);
  await connection.close();
});

test('a load that hears nothing any more ends', async () => {
  await using database = await createTestDatabase();
  await fill(database);
  await using network = await startBlackHole(database.url);
  const connection = await connectToLoad({ urls: [network.url], poolSize: 1 }, 500);
  await connection.client.query('BEGIN');
  network.swallow();
  // The statement that precedes the rows goes nowhere.
  await expect(copyLive(connection, () => {})).rejects.toThrow('silent for 500 ms');
  await connection.close();
});
