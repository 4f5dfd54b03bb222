import { connectionsTo } from './connections.ts';
import type { DelayMeter } from './delays.ts';
import type { Plan, RequestsJob, RequestsResult } from './jobs.ts';
import { PlanRun } from './plan-run.ts';

const TICK_MS = 2;
/** Steady rates may have this many requests under way; a server that is slower than that gets no more. */
const MAX_UNDER_WAY = 20_000;

/** Runs all plans of a job at once, on the same connections, and tells what each one met. */
export async function runRequests(job: RequestsJob, delays: DelayMeter): Promise<RequestsResult> {
  const connections = await connectionsTo(job.target, job.protocol, job.connections);
  const runs = job.plans.map((plan) => new PlanRun(plan, connections, delays));
  await Promise.all(runs.map((run) => run.learnVersions()));
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const deadline = startedAt + job.durationMs;
  await Promise.all(runs.map((run) => drive(run, deadline)));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cores: (user + system) / 1e6 / seconds, plans: runs.map((run) => run.result()) };
}

function drive(run: PlanRun, deadline: number): Promise<void> {
  const { pace } = run.plan;
  return 'clients' in pace
    ? closedLoop(run, pace.clients, deadline)
    : openLoop(run, pace.perSecond, deadline);
}

async function closedLoop(run: PlanRun, clients: number, deadline: number): Promise<void> {
  await Promise.all(
    Array.from({ length: clients }, (_, client) => runClient(run, { client, clients }, deadline)),
  );
}

/** Client 3 of 10 has the objects 3, 13, 23, …, so that no two write the same one. */
async function runClient(
  run: PlanRun,
  { client, clients }: { client: number; clients: number },
  deadline: number,
): Promise<void> {
  const { objects = 1, once = false }: Plan = run.plan;
  let object = client;
  while (performance.now() < deadline || once) {
    if (object >= objects) {
      if (once) return;
      object = client % objects;
    }
    await run.send(object, client, performance.now());
    object += clients;
  }
}

/**
 * A request's time counts from when it was due, not from when it was sent: a server that stalls would otherwise hide the
 * requests that waited for it.
 */
function openLoop(run: PlanRun, perSecond: number, deadline: number): Promise<void> {
  const { objects = 1 } = run.plan;
  const startedAt = performance.now();
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      const due = Math.floor((Math.min(now, deadline) - startedAt) * (perSecond / 1000));
      while (sent < due && underWay.size < MAX_UNDER_WAY) {
        const sending = run.send(sent % objects, sent, startedAt + ((sent + 1) * 1000) / perSecond);
        underWay.add(sending);
        void sending.finally(() => underWay.delete(sending));
        sent += 1;
      }
      if (now < deadline) return;
      clearInterval(timer);
      void Promise.all(underWay).then(() => resolve());
    }, TICK_MS);
  });
}
