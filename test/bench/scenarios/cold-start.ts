import type { Figures, Group, Scenario, Stage } from '../bench.ts';
import { loadObjects } from '../environment/load-objects.ts';
import { rateOfStart, readRows, startAgain } from '../environment/start-again.ts';

const SIZES = [0, 10_000, 100_000];
const QUICK = 0.1;

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
  const started = await startAgain(own, environment.namespace);
  const reading = await readRows(own);
  return {
    unit: 'objects',
    count,
    facts: {
      'ready s': started.readySeconds,
      'listed s': started.listedSeconds,
      'server cpu s': started.serverCpu,
      'database cpu s': started.databaseCpu,
      'ready MB': started.readyBytes / 1024 / 1024,
      'reading the rows s': reading.seconds,
      'reading cpu s': reading.cpu,
    },
    ...(count === 0 ? {} : rateOfStart({ ...started, count, reading })),
    peakBytes: started.peakBytes,
  };
}
