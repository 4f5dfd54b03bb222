import { spawn } from 'node:child_process';
import { test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { onLeash } from '../../kit/leash.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';

test('a run with a server and a PostgreSQL of its own, which waits for its end', async () => {
  const database = await createTestDatabase();
  await startPrivatePostgres();
  await startCluster(database.url);
  // As a tool is that says nothing: writing into a pipe that nobody reads is what ends others.
  onLeash(spawn('sleep', ['600'], { stdio: 'ignore' }));
  process.stdout.write('WAITING\n');
  await new Promise(() => {});
});
