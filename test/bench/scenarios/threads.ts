import { readdirSync, readFileSync } from 'node:fs';
import type { Bench, Figures, Group, Scenario, Stage } from '../bench.ts';
import { type Environment, openEnvironment } from '../environment/environment.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { Plan } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { memoryOf } from '../measure/proc.ts';
import { measure, toFigures } from '../measure-requests.ts';
import { fanOut } from './watch.ts';

/** One is the server without serving threads, which the others are compared with. */
const COUNTS = [1, 2, 4];
const PODS = 1000;
const CLIENTS = 64;
/** Sockets are dealt to listeners by their addresses: with few, one thread may get most. */
const CONNECTIONS = [8, 50];
const MANY_CONNECTIONS = 1000;
const MEGABYTE = 1024 * 1024;

/** Throughput and CPU by number of serving threads. `busiest`: the CPU of the busiest thread, to the mean of all. */
export const threads: Group = {
  server: 'own',
  scenarios: COUNTS.map(
    (count): Scenario<Stage> => ({
      name: `threads/${count}`,
      run: (stage) => run(stage, count),
    }),
  ),
};

async function run(stage: Stage, count: number): Promise<Figures | readonly Figures[]> {
  if (stage.settings.kubeconfig !== undefined)
    return { status: 'not supported', note: 'only a server of our own can be started with other threads' };
  const serverFlags = [...stage.settings.serverFlags, `--serving-threads=${count}`];
  await using environment = await openEnvironment({ ...stage.settings, serverFlags });
  const bench = { ...stage, environment };
  await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count: PODS });
  const rows: Figures[] = [];
  for (const connections of CONNECTIONS)
    for (const plan of plansIn(environment))
      rows.push(await requests(bench, { count, plan, connections, clients: CLIENTS }));
  const [get] = plansIn(environment);
  if (get !== undefined)
    rows.push(
      await requests(bench, { count, plan: get, connections: MANY_CONNECTIONS, clients: MANY_CONNECTIONS }),
    );
  const watched = { watchers: 1000, writes: 500, quickWrites: 50 };
  const name = `threads/${count}/1000-watchers`;
  rows.push({ ...(await fanOut(bench, { name, ...watched })), scenario: name });
  return rows;
}

function plansIn({ namespace }: Environment): readonly Omit<Plan, 'pace'>[] {
  const all = KINDS.pods.collection(namespace);
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ metadata: { annotations: { 'bench.example.com/turn': '$S' } } });
  const created = JSON.stringify(KINDS.configmaps.manifest(namespace, 'new-$S'));
  return [
    { name: 'get', method: 'GET', path: `${all}/p-7` },
    { name: 'list', method: 'GET', path: `${all}?limit=100` },
    {
      name: 'create',
      method: 'POST',
      path: KINDS.configmaps.collection(namespace),
      body: created,
      headers: json,
    },
    {
      ...{ name: 'patch', method: 'PATCH', path: `${all}/p-$N`, objects: PODS, body },
      headers: { 'content-type': 'application/merge-patch+json' },
    },
  ];
}

interface Requests {
  readonly count: number;
  readonly plan: Omit<Plan, 'pace'>;
  readonly connections: number;
  readonly clients: number;
}

async function requests(bench: Bench, { count, plan, connections, clients }: Requests): Promise<Figures> {
  const { target, measured } = bench.environment;
  const before = threadTimes(measured.server);
  const job = {
    ...{ target, connections, protocol: 'h2' as const, plans: [{ ...plan, pace: { clients } }] },
    durationMs: bench.scale(4000, 1000),
  };
  const figures = toFigures(await measure(bench, job));
  const used = threadTimes(measured.server).map(({ thread, ticks }) => ({
    thread,
    ticks: ticks - (before.find((one) => one.thread === thread)?.ticks ?? 0),
  }));
  const serving = used.filter(({ thread }) => thread.startsWith('serving'));
  const mean = serving.reduce((sum, { ticks }) => sum + ticks, 0) / serving.length;
  const busiest = Math.max(...serving.map(({ ticks }) => ticks));
  return {
    ...figures,
    scenario: `threads/${count}/${plan.name}/${connections}-connections`,
    facts: {
      ...(serving.length === 0 ? {} : { busiest: busiest / mean }),
      'server MB': memoryOf(measured.server).residentBytes / MEGABYTE,
    },
  };
}

/** CPU of the serving threads of processes, in ticks of the kernel. */
function threadTimes(pids: readonly number[]): { readonly thread: string; readonly ticks: number }[] {
  return pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((task) => {
      const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
      const end = stat.lastIndexOf(')');
      const fields = stat.slice(end + 2).split(' ');
      // utime and stime: proc(5) counts from the process's id, and these stand behind its name.
      return {
        thread: stat.slice(stat.indexOf('(') + 1, end),
        ticks: Number(fields[11]) + Number(fields[12]),
      };
    }),
  );
}
