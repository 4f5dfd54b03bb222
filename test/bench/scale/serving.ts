import { request } from 'node:https';
import type { Figures, KeptBench } from '../bench.ts';
import { tlsOf } from '../load/connections.ts';
import { EventCounter } from '../load/event-counter.ts';
import type { Target } from '../load/jobs.ts';
import { startUsage } from '../measure/usage.ts';
import { costOf, measure, toFigures } from '../measure-requests.ts';

const PAGE = '/api/v1/configmaps?limit=500';
const CHANGES = 5000;
const PATIENCE_MS = 120_000;
/** Of a watch that ends early, the error that it ends with. */
const TAIL_LENGTH = 500;

/** Of more than half a million config maps, one page after the other. */
export async function listPage(bench: KeptBench): Promise<Figures> {
  const plan = { name: 'list', method: 'GET', path: PAGE, pages: true, pace: { clients: 1 } };
  const job = { protocol: 'h2', connections: 1, plans: [plan], durationMs: bench.scale(1000, 200) } as const;
  return { unit: 'pages', ...toFigures(await measure(bench, job)) };
}

/** The first page of how it was, which the database has to find. */
export async function listPageOfThen(bench: KeptBench): Promise<Figures> {
  const { first } = bench.shape.log;
  const then = first + Math.floor(bench.shape.span / 2);
  const path = `${PAGE}&resourceVersion=${then}&resourceVersionMatch=Exact`;
  const plan = { name: 'list', method: 'GET', path, pace: { clients: 1 } };
  const job = { protocol: 'h2', connections: 1, plans: [plan], durationMs: bench.scale(1000, 200) } as const;
  return { unit: 'pages', ...toFigures(await measure(bench, job)) };
}

/** Watches of all config maps that go on from some thousand changes ago, at a server that has just been started. */
export async function resumedWatch({ environment }: KeptBench, watchers: number): Promise<Figures> {
  await environment.restart();
  const [row] = await environment.own.query<{ revision: string }>(
    `SELECT revision FROM revisions WHERE resource = 'configmaps' ORDER BY revision DESC OFFSET ${CHANGES} LIMIT 1`,
  );
  const path = `/api/v1/configmaps?watch=true&resourceVersion=${row?.revision}`;
  const stop = startUsage(environment.measured);
  const ends = await Promise.all(
    Array.from({ length: watchers }, () => untilReplayed(environment.target, path)),
  );
  const usage = stop();
  const count = CHANGES * watchers;
  const times = ends.toSorted((one, other) => one - other);
  return {
    unit: 'events',
    count,
    rate: count / usage.seconds,
    ...costOf(usage, count),
    facts: { 'first ms': times[0] ?? Number.NaN, 'last ms': times.at(-1) ?? Number.NaN, events: count },
  };
}

/** Milliseconds until as many events have come. */
function untilReplayed(target: Target, path: string): Promise<number> {
  const { hostname, port } = new URL(target.url);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const options = { ...tlsOf(target), host: hostname, port, path, agent: false as const };
    const asking = request({ ...options, timeout: PATIENCE_MS }, (response) => {
      const counter = new EventCounter();
      let events = 0;
      let last = '';
      response.on('data', (chunk: Buffer) => {
        events += counter.count(chunk);
        last = (last + chunk.toString('latin1')).slice(-TAIL_LENGTH);
        if (events < CHANGES) return;
        resolve(performance.now() - startedAt);
        asking.destroy();
      });
      response.once('close', () =>
        reject(new Error(`a watch ended after ${events} events, ${response.statusCode}, with ${last}`)),
      );
    });
    asking.once('timeout', () => asking.destroy(new Error('a watch is silent')));
    asking.once('error', reject);
    asking.end();
  });
}
