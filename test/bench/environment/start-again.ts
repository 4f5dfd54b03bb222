import pg from 'pg';
import type { Target } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { cpuSeconds, memoryOf } from '../measure/proc.ts';
import { ask, demand } from './ask.ts';
import type { OwnServer } from './own-server.ts';

const POLL_MS = 5;

export interface Started {
  readonly target: Target;
  readonly readySeconds: number;
  readonly listedSeconds: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly peakBytes: number;
  readonly readyBytes: number;
}

/** From the start of the process to ready, and to the end of a list of all pods of a namespace. */
export async function startAgain(own: OwnServer, namespace: string): Promise<Started> {
  const databaseBefore = cpuSeconds(own.pids.database);
  const startedAt = performance.now();
  const since = (): number => (performance.now() - startedAt) / 1000;
  const target = await own.start();
  while ((await ask(target, { path: '/readyz' })).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const readySeconds = since();
  const serverCpu = cpuSeconds(own.pids.server);
  const databaseCpu = cpuSeconds(own.pids.database) - databaseBefore;
  const { residentBytes: readyBytes } = memoryOf(own.pids.server);
  await demand(target, { path: KINDS.pods.collection(namespace) });
  const listedSeconds = since();
  const { peakBytes } = memoryOf(own.pids.server);
  return { target, readySeconds, listedSeconds, serverCpu, databaseCpu, peakBytes, readyBytes };
}

/** The least that knowing everything takes: the rows, through the same driver, and forgotten at once. */
export async function readRows(own: OwnServer): Promise<{ seconds: number; cpu: number }> {
  const client = new pg.Client({ connectionString: own.databaseUrl });
  await client.connect();
  const databaseBefore = cpuSeconds(own.pids.database);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await client.query('BEGIN READ ONLY');
  await client.query(`DECLARE live NO SCROLL CURSOR FOR
    SELECT api_group, resource, namespace, name, uid, revision, object::text
    FROM current_objects
    ORDER BY api_group, resource, namespace, name`);
  while ((await client.query('FETCH 2000 FROM live')).rows.length > 0);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await client.end();
  return { seconds, cpu: (user + system) / 1e6 + cpuSeconds(own.pids.database) - databaseBefore };
}

export interface ColdStart extends Started {
  readonly count: number;
  readonly reading: { readonly seconds: number; readonly cpu: number };
}

/** A server that knows nothing beside reading the rows; with nothing to know there is no limit. */
export const rateOfStart = ({ count, reading, ...started }: ColdStart) => ({
  rate: count / started.readySeconds,
  limit: {
    what: 'reading the rows',
    rate: count / reading.seconds,
    cpuPer1000: reading.cpu / (count / 1000),
    share: reading.seconds / started.readySeconds,
    cpuShare: reading.cpu / (started.serverCpu + started.databaseCpu),
  },
});
