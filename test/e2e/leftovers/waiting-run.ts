import { spawn } from 'node:child_process';
import { test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { onLeash } from '../../kit/leash.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';

test('a run with a server and a PostgreSQL of its own, which waits for its end', async () => {
  const database = await createTestDatabase();
  await startPrivatePostgres();
  await startCluster(database.url);
  // It writes nothing, as some tools do: others end when they write into a closed pipe.
  onLeash(spawn('sleep', ['600'], { stdio: 'ignore' }));
  process.stdout.write('WAITING\n');
  await new Promise(() => {});
});
