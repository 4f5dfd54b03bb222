import type { Figures, Stage } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import type { Environment } from '../environment/environment.ts';
import { startAgain } from '../environment/start-again.ts';
import type { Target } from '../load/jobs.ts';
import { cpuSeconds, memoryOf } from '../measure/proc.ts';
import { DEFINITIONS, freshDefinition, realDefinition } from './definitions.ts';
import { install, untilServed } from './install.ts';

const MEGABYTE = 1024 * 1024;
/** V8 collects what loading has left behind. */
const SETTLE_MS = 20_000;
const WRITERS = 4;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A thousand definitions: what they cost unused, at the start of a server, and when they are published. */
export async function many(stage: Stage): Promise<readonly Figures[]> {
  if (stage.settings.kubeconfig !== undefined) {
    return [{ status: 'not supported', note: 'only a server of our own can be started again' }];
  }
  const count = stage.scale(1000, 100);
  await using environment = await stage.open();
  const { own, namespace } = environment;
  if (own === undefined) throw new Error('the server is not our own');
  await own.stop();
  const empty = await startAgain(own, namespace);
  await pause(SETTLE_MS);
  const emptyBytes = memoryOf(own.pids.server).residentBytes;
  const jsonBytes = await installMany(empty.target, count);
  await pause(SETTLE_MS);
  const installed = memoryOf(own.pids.server).residentBytes;
  await own.stop();
  const full = await startAgain(own, namespace);
  await untilServed(full.target, realDefinition(count - 1));
  await pause(SETTLE_MS);
  const startedBytes = memoryOf(own.pids.server).residentBytes;
  const each = (bytes: number): number => (bytes - emptyBytes) / count / 1024;
  const memory: Figures = {
    scenario: 'custom/many/memory',
    unit: 'definitions',
    count,
    facts: {
      'kB JSON each': jsonBytes / count / 1024,
      'kB each after their start': each(startedBytes),
      'kB each after they were installed': each(installed),
      'empty MB': emptyBytes / MEGABYTE,
    },
    note: 'goal: 150 kB each',
  };
  const start: Figures = {
    scenario: 'custom/many/start',
    unit: 'definitions',
    count,
    facts: {
      'ready s without': empty.readySeconds,
      'ready s with': full.readySeconds,
      'more s': full.readySeconds - empty.readySeconds,
      'more cpu s': full.serverCpu - empty.serverCpu,
    },
    note: 'goal: 0.5 s more',
  };
  return [memory, start, ...(await published({ ...environment, target: full.target }, count))];
}

async function installMany(target: Target, count: number): Promise<number> {
  let next = 0;
  let bytes = 0;
  const writer = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const { json } = realDefinition(at);
      bytes += json.length;
      await demand(target, { method: 'POST', path: DEFINITIONS, body: json });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  for (let at = Math.max(0, count - WRITERS); at < count; at += 1)
    await untilServed(target, realDefinition(at));
  return bytes;
}

interface Timed {
  readonly ms: number;
  readonly cpuMs: number;
  readonly bytes: number;
}

async function published(environment: Environment, count: number): Promise<Figures[]> {
  const { target, own } = environment;
  const pids = own?.pids.server ?? [];
  const timed = async (path: string, accept = 'application/json'): Promise<Timed> => {
    const cpuBefore = cpuSeconds(pids);
    const startedAt = performance.now();
    const { body } = await demand(target, { path, headers: { accept } });
    const ms = performance.now() - startedAt;
    return { ms, cpuMs: (cpuSeconds(pids) - cpuBefore) * 1000, bytes: body.length };
  };
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const index = await timed('/openapi/v3');
  const groups = count / 10;
  const colds: Timed[] = [];
  for (let at = 0; at < 15; at += 1)
    colds.push(await timed(`/openapi/v3/apis/g${at % groups}.example.com/v1`));
  const cold = colds.slice(Math.min(5, groups - 1), groups).sort((a, b) => a.ms - b.ms);
  const median = cold[Math.floor(cold.length / 2)] ?? index;
  await timed('/apis', aggregated);
  await install(target, freshDefinition(0));
  const changed = await timed('/apis', aggregated);
  const whole = await timed('/openapi/v2');
  const row = (name: string, { ms, cpuMs, bytes }: Timed, note = ''): Figures => ({
    scenario: `custom/many/${name}`,
    p50Ms: ms,
    facts: { 'server cpu ms': cpuMs, MB: bytes / MEGABYTE },
    note,
  });
  return [
    row('openapi-v3-index', index, 'the first one'),
    row('openapi-v3-group', median, 'ten definitions, cold; goal: 50 ms'),
    row('discovery', changed, 'aggregated, after a definition was added'),
    row('openapi-v2', whole, 'all of it'),
  ];
}
