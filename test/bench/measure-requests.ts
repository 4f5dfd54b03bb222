import type { Bench, Figures } from './bench.ts';
import type { LimitFigures } from './limit/database-limit.ts';
import { type PlanResult, type RequestsJob, type RequestsResult, SATURATED } from './load/jobs.ts';
import { startUsage, type Usage } from './measure/usage.ts';
import type { Limit, Row } from './report/row.ts';

export interface Measurement {
  readonly result: RequestsResult;
  readonly usage: Usage;
}

const WARM_UP_ROUNDS = 6;
/** A round that is not cheaper than the best before it by so much is the last. */
const GAIN = 0.05;

/** Runs a job, after short ones of the same kind, so that what is measured is compiled and its pages are in memory. */
export async function measure(bench: Bench, job: Omit<RequestsJob, 'target'>): Promise<Measurement> {
  const { environment } = bench;
  if (!job.plans.some((plan) => plan.once === true)) await warmUp(bench, job);
  return await runMeasured(bench, { ...job, target: environment.target });
}

/** V8 compiles for seconds; a server is warm when its requests do not become cheaper any more. */
async function warmUp(bench: Bench, job: Omit<RequestsJob, 'target'>): Promise<void> {
  const { target } = bench.environment;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) {
    const { result, usage } = await runMeasured(bench, {
      ...job,
      target,
      durationMs: bench.scale(2000, 200),
    });
    const count = result.plans.reduce((sum, plan) => sum + plan.count, 0);
    const cost = usage.serverCpu / count;
    if (!(cost < best * (1 - GAIN))) return;
    best = cost;
  }
}

export async function runMeasured({ environment, generator }: Bench, job: RequestsJob): Promise<Measurement> {
  const stop = startUsage(environment.measured);
  const result = await generator.call('requests', job);
  return { result, usage: stop() };
}

/** What a measurement says of its only plan. @throws Error when requests failed, with the first answer */
export function toFigures({ result, usage }: Measurement): Figures {
  const [plan] = result.plans;
  if (plan === undefined) throw new Error('nothing was measured');
  const failed = failureOf(plan);
  if (failed !== undefined) return failed;
  return {
    count: plan.count,
    rate: plan.count / result.seconds,
    p50Ms: plan.latencyMs.p50,
    p99Ms: plan.latencyMs.p99,
    ...costOf(usage, plan.count),
    ...loadOf(result.cores),
  };
}

/** A dialect that the server does not speak is no failure of the benchmark. */
export function failureOf({ failures, count, firstFailure }: PlanResult): Figures | undefined {
  const failed = Object.values(failures).reduce((sum, times) => sum + times, 0);
  if (failed === 0) return undefined;
  if (failures['415'] === count || failures['406'] === count)
    return { status: 'not supported', note: 'answered 415 or 406' };
  return {
    status: 'failed',
    note: `${failed} of ${count} failed ${JSON.stringify(failures)}: ${firstFailure}`,
    count,
  };
}

export const costOf = (usage: Usage, count: number): Partial<Row> => ({
  serverCpuPer1000: usage.serverCpu / (count / 1000),
  databaseCpuPer1000: usage.databaseCpu / (count / 1000),
  peakBytes: usage.peakBytes,
});

export const loadOf = (cores: number): Partial<Row> => ({ loadCores: cores, saturated: cores > SATURATED });

export function withLimit(figures: Figures, what: string, limit: LimitFigures): Figures {
  const cpu = (figures.serverCpuPer1000 ?? Number.NaN) + (figures.databaseCpuPer1000 ?? Number.NaN);
  const shares: Limit = {
    what,
    ...limit,
    share: (figures.rate ?? Number.NaN) / limit.rate,
    cpuShare: limit.cpuPer1000 / cpu,
  };
  return { ...figures, limit: shares };
}

/** Several connections for many clients, as many clients have; never more than there are clients. */
export const connectionsFor = (clients: number): number => Math.min(clients, 8);
