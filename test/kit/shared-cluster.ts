import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { Baseline } from '../../src/testing/reset.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { PATIENCE } from './patience.ts';
import { leaveDatabase } from './run-folder.ts';

/**
 * A server without flags that the files of one process use one after the other, because a start costs more CPU than most of them.
 * Disposal puts its objects back as they were after the start. History, metrics and the log go on: a file that looks at all of them, or
 * that stops the server, starts one of its own.
 */
export interface SharedCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly database: TestDatabase;
}

interface Running {
  readonly cluster: Cluster;
  readonly database: TestDatabase;
  readonly baseline: Baseline;
}

let running: Promise<Running> | undefined;

export async function shareCluster(): Promise<SharedCluster> {
  running ??= start().catch((error: unknown) => {
    // The next file tries again.
    running = undefined;
    throw error;
  });
  const { cluster, database, baseline } = await running;
  const restore = async (): Promise<void> => {
    // What kubectl has discovered may be gone.
    rmSync(join(cluster.folder, '.kube'), { recursive: true, force: true });
    try {
      await baseline.restore();
    } catch (error) {
      // The next file must not begin with what this one has left.
      running = undefined;
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  };
  return { cluster, database, [Symbol.asyncDispose]: restore };
}

async function start(): Promise<Running> {
  const database = await createTestDatabase();
  // The process ends without a word: the end of the run drops it.
  leaveDatabase(database.url);
  const cluster = await startCluster(database.url);
  await furnish(cluster);
  const read = (name: string): string => readFileSync(join(cluster.folder, 'certificates', name), 'utf8');
  const baseline = await Baseline.take({
    ...{ url: `https://127.0.0.1:${cluster.port}`, ca: read('ca.crt') },
    ...{ certificate: read('admin.crt'), key: read('admin.key') },
  });
  return { cluster, database, baseline };
}

/** Until the controllers have made what each namespace has from its beginning. */
async function furnish(cluster: Cluster): Promise<void> {
  const count = async (path: string): Promise<number> =>
    (await cluster.request('GET', path)).json.items.length;
  const namespaces = await count('/api/v1/namespaces');
  for (const name of ['configmaps', 'serviceaccounts'])
    await vi.waitFor(
      async () => expect(await count(`/api/v1/${name}`)).toBeGreaterThanOrEqual(namespaces),
      PATIENCE,
    );
}
