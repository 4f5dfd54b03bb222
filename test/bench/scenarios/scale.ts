import type { Group, KeptBench, Stage } from '../bench.ts';
import { KeptServer } from '../environment/kept-server.ts';
import { compaction } from '../scale/compaction.ts';
import { cold, requestIndexes, size } from '../scale/holding.ts';
import { QUESTIONS } from '../scale/questions.ts';
import { listPage, listPageOfThen, resumedWatch } from '../scale/serving.ts';
import { writes } from '../scale/writes.ts';
import { HISTORY_IN_SQL } from './history-in-sql.ts';

/** What much history and many objects cost. The last of them takes a day of it away. */
export const scale: Group = {
  server: 'kept',
  open,
  scenarios: [
    { name: 'scale/request-indexes', run: requestIndexes },
    { name: 'scale/size', run: size },
    { name: 'scale/cold-start', run: cold },
    { name: 'scale/create', run: (bench) => writes(bench, 'create') },
    { name: 'scale/patch', run: (bench) => writes(bench, 'patch') },
    ...QUESTIONS,
    ...HISTORY_IN_SQL,
    { name: 'scale/list-page', run: listPage },
    { name: 'scale/list-page-of-then', run: listPageOfThen },
    { name: 'scale/resumed-watch/1', run: (bench) => resumedWatch(bench, 1) },
    { name: 'scale/resumed-watch/100', run: (bench) => resumedWatch(bench, 100) },
    { name: 'scale/compaction', run: compaction },
  ],
};

async function open(stage: Stage): Promise<KeptBench> {
  const { settings } = stage;
  if (settings.scale === undefined || settings.kubeconfig !== undefined) {
    throw new Error('scale is measured on a server of our own');
  }
  let printedAt = 0;
  const onProgress = (message: string): void => {
    if (performance.now() - printedAt < 10_000) return;
    printedAt = performance.now();
    process.stderr.write(`  ${message}\n`);
  };
  const environment = await KeptServer.open({ ...settings, size: settings.scale, onProgress });
  return {
    ...stage,
    environment,
    shape: environment.shape,
    [Symbol.asyncDispose]: () => environment[Symbol.asyncDispose](),
  };
}
