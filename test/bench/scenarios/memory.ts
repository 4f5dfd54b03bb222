import type { Bench, Figures, Group, Stage } from '../bench.ts';
import type { Environment } from '../environment/environment.ts';
import { loadObjects } from '../environment/load-objects.ts';
import { startAgain } from '../environment/start-again.ts';
import { KINDS } from '../manifests.ts';
import { memoryOf, privateBytes } from '../measure/proc.ts';
import { startUsage } from '../measure/usage.ts';

const MEGABYTE = 1024 * 1024;
/** Ten seconds after its start a server collects what the start has left behind (util/give-back-memory.ts). */
const SETTLE_MS = 15_000;
/** Until what was not written or read of late is compressed (storage/watch-cache/compression.ts). */
const COMPRESSED_MS = 135_000;
const WATCHES = 1000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What a server takes that has much to know and nothing to do. */
export const memory: Group = {
  server: 'own',
  scenarios: [
    { name: 'idle', run: idle },
    { name: 'memory/100000-pods', run: (stage) => pods(stage, stage.scale(100_000, 10_000)) },
    { name: 'memory/10000-pods-9000-configmaps', run: (stage) => mixed(stage, stage.scale(1, 0.1)) },
    { name: 'memory/1000-idle-watches', run: watches },
  ],
};

const serverBytes = ({ measured }: Environment): number => memoryOf(measured.server).residentBytes;

async function idle(stage: Stage): Promise<Figures> {
  await using environment = await stage.open();
  await pause(stage.scale(SETTLE_MS, 1000));
  const stop = startUsage(environment.measured);
  await pause(stage.scale(20_000, 3000));
  const { serverCpu, databaseCpu, seconds, peakBytes } = stop();
  return {
    peakBytes,
    facts: {
      'server % of a core': (serverCpu / seconds) * 100,
      'database % of a core': (databaseCpu / seconds) * 100,
      'server MB': serverBytes(environment) / MEGABYTE,
      'database MB': privateBytes(environment.measured.database) / MEGABYTE,
    },
  };
}

async function pods(stage: Stage, count: number): Promise<Figures> {
  await using environment = await stage.open();
  const bench = { ...stage, environment };
  await pause(stage.scale(SETTLE_MS, 1000));
  const before = serverBytes(environment);
  const { jsonBytes } = await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count });
  const figures = await grown(bench, { count, before, jsonBytes });
  const { own } = environment;
  if (own === undefined) return figures;
  await own.stop();
  await startAgain(own, environment.namespace);
  await pause(COMPRESSED_MS);
  return {
    ...figures,
    facts: { ...figures.facts, 'started again MB': memoryOf(own.pids.server).residentBytes / MEGABYTE },
  };
}

async function mixed(stage: Stage, share: number): Promise<Figures> {
  await using environment = await stage.open();
  const bench = { ...stage, environment };
  await pause(stage.scale(SETTLE_MS, 1000));
  const before = serverBytes(environment);
  const counts = { pods: 10_000 * share, configmaps: 9000 * share };
  const first = await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count: counts.pods });
  const second = await loadObjects(bench, { kind: 'configmaps', name: 'c-$N', count: counts.configmaps });
  const jsonBytes = first.jsonBytes + second.jsonBytes;
  return await grown(bench, { count: counts.pods + counts.configmaps, before, jsonBytes });
}

interface Growth {
  readonly count: number;
  readonly before: number;
  readonly jsonBytes: number;
}

/** Garbage of the loading is in it too, as it is in a server that has just received so much. */
async function grown({ environment }: Bench, { count, before, jsonBytes }: Growth): Promise<Figures> {
  await pause(SETTLE_MS);
  const after = serverBytes(environment);
  const { peakBytes } = memoryOf(environment.measured.server);
  return {
    unit: 'objects',
    count,
    peakBytes,
    facts: {
      'empty MB': before / MEGABYTE,
      'full MB': after / MEGABYTE,
      'JSON MB': jsonBytes / MEGABYTE,
      'grown by times its JSON': (after - before) / jsonBytes,
      'kB an object': (after - before) / count / 1024,
      'database MB': privateBytes(environment.measured.database) / MEGABYTE,
    },
  };
}

async function watches(stage: Stage): Promise<Figures> {
  await using environment = await stage.open();
  const { generator } = stage;
  await loadObjects({ ...stage, environment }, { kind: 'pods', name: 'p-$N', running: true, count: WATCHES });
  await pause(stage.scale(SETTLE_MS, 1000));
  const before = serverBytes(environment);
  const collection = KINDS.pods.collection(environment.namespace);
  const stop = startUsage(environment.measured);
  await generator.call('openWatches', {
    target: environment.target,
    protocol: 'h1',
    connections: 1,
    watchers: WATCHES,
    path: `${collection}?watch=true&timeoutSeconds=600&fieldSelector=metadata.name%3Dp-$N`,
    delays: false,
  });
  const { serverCpu, peakBytes } = stop();
  await pause(SETTLE_MS);
  const stopIdle = startUsage(environment.measured);
  await pause(stage.scale(10_000, 2000));
  const idling = stopIdle();
  const grownBytes = serverBytes(environment) - before;
  await generator.call('closeWatches', undefined);
  return {
    unit: 'watches',
    count: WATCHES,
    peakBytes,
    facts: {
      'kB a watch and its connection': grownBytes / WATCHES / 1024,
      'ms CPU to open one': (serverCpu / WATCHES) * 1000,
      'idle % of a core': (idling.serverCpu / idling.seconds) * 100,
    },
  };
}
