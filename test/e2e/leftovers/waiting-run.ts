import { test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';

test('a run with a server and a PostgreSQL of its own, which waits for its end', async () => {
  const database = await createTestDatabase();
  await startPrivatePostgres();
  await startCluster(database.url);
  process.stdout.write('WAITING\n');
  await new Promise(() => {});
});
