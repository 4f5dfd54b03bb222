import pg from 'pg';
import type { Figures, Group, Scenario, Stage } from '../bench.ts';
import { ask, demand } from '../environment/ask.ts';
import type { Environment } from '../environment/environment.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { OwnServer } from '../environment/own-server.ts';
import { KINDS } from '../manifests.ts';
import { cpuSeconds, memoryOf } from '../measure/proc.ts';

const SIZES = [0, 10_000, 100_000];
const QUICK = 0.1;
const POLL_MS = 5;

/** From the start of the process to ready, and to the end of the first list of everything. */
export const coldStart: Group = { server: 'own', scenarios: SIZES.map(toScenario) };

function toScenario(size: number): Scenario<Stage> {
  return { name: `cold-start/${size}-pods`, run: (stage) => run(stage, stage.scale(size, size * QUICK)) };
}

async function run(stage: Stage, count: number): Promise<Figures> {
  if (stage.settings.kubeconfig !== undefined) {
    return { status: 'not supported', note: 'only a server of our own can be started again' };
  }
  await using environment = await stage.open();
  const { own } = environment;
  if (own === undefined) throw new Error('the server is not our own');
  if (count > 0)
    await loadObjects({ ...stage, environment }, { kind: 'pods', name: 'p-$N', running: true, count });
  await own.stop();
  const started = await startAgain(own, environment);
  const limit = await readRows(own);
  return {
    unit: 'objects',
    count,
    facts: {
      'ready s': started.readySeconds,
      'listed s': started.listedSeconds,
      'server cpu s': started.serverCpu,
      'database cpu s': started.databaseCpu,
      'ready MB': started.readyBytes / 1024 / 1024,
      'reading the rows s': limit.seconds,
      'reading cpu s': limit.cpu,
    },
    ...(count === 0
      ? {}
      : {
          rate: count / started.readySeconds,
          limit: {
            what: 'reading the rows',
            rate: count / limit.seconds,
            cpuPer1000: limit.cpu / (count / 1000),
            share: limit.seconds / started.readySeconds,
            cpuShare: limit.cpu / (started.serverCpu + started.databaseCpu),
          },
        }),
    peakBytes: started.peakBytes,
  };
}

interface Started {
  readonly readySeconds: number;
  readonly listedSeconds: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly peakBytes: number;
  readonly readyBytes: number;
}

async function startAgain(own: OwnServer, { namespace }: Environment): Promise<Started> {
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
  return { readySeconds, listedSeconds, serverCpu, databaseCpu, peakBytes, readyBytes };
}

/** The least that knowing everything takes: the rows, through the same driver, and forgotten at once. */
async function readRows(own: OwnServer): Promise<{ seconds: number; cpu: number }> {
  const client = new pg.Client({ connectionString: own.databaseUrl });
  await client.connect();
  const databaseBefore = cpuSeconds(own.pids.database);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await client.query('BEGIN READ ONLY');
  await client.query(`DECLARE live NO SCROLL CURSOR FOR
    SELECT api_group, resource, namespace, name, uid, revision, object::text
    FROM objects
    ORDER BY api_group, resource, namespace, name`);
  while ((await client.query('FETCH 2000 FROM live')).rows.length > 0);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await client.end();
  return { seconds, cpu: (user + system) / 1e6 + cpuSeconds(own.pids.database) - databaseBefore };
}
