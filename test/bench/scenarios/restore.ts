import type { Bench, Figures, Group } from '../bench.ts';
import { ask, demand } from '../environment/ask.ts';
import { askMeanwhile } from '../environment/ask-meanwhile.ts';
import { KINDS } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';

const MAPS = KINDS.configmaps;
const NAMESPACES = '/api/v1/namespaces';
const NAMESPACE = 'bench-restored';
const LOOK_MS = 20;

/** A namespace with 1,000 objects that was deleted, from the wish to have it back to the answer. */
export const restore: Group = {
  server: 'shared',
  scenarios: [{ name: 'restore/namespace/1000', run: restoreNamespace }],
};

async function restoreNamespace(bench: Bench): Promise<Figures> {
  const { target, measured } = bench.environment;
  const count = 1000;
  await demand(target, {
    ...{ method: 'POST', path: NAMESPACES, body: JSON.stringify({ metadata: { name: NAMESPACE } }) },
  });
  await load(bench, count);
  const to = await newest(bench);
  await demand(target, { method: 'DELETE', path: `${NAMESPACES}/${NAMESPACE}` });
  await until(
    async () => (await ask(target, { path: `${NAMESPACES}/${NAMESPACE}` })).status === 404,
    LOOK_MS,
  );

  const body = JSON.stringify({ spec: { namespace: NAMESPACE, to } });
  const stop = startUsage(measured);
  const others = askMeanwhile(target);
  const { body: answer } = await demand(target, {
    ...{ method: 'POST', path: '/apis/history.cluster.io/v1alpha1/restores', body },
  });
  const { seconds, serverCpu, databaseCpu, peakBytes } = stop();
  const longestMs = await others();
  const created = readActions(answer).filter((action) => action === 'created').length;
  if (created < count) throw new Error(`of ${count} objects, ${created} were restored`);
  await demand(target, { method: 'DELETE', path: `${NAMESPACES}/${NAMESPACE}` });
  await until(
    async () => (await ask(target, { path: `${NAMESPACES}/${NAMESPACE}` })).status === 404,
    LOOK_MS,
  );
  return {
    ...{ unit: 'objects', count, rate: count / seconds, p50Ms: seconds * 1000, peakBytes },
    facts: {
      ...{ seconds, 'server cpu s': serverCpu, 'database cpu s': databaseCpu },
      'others waited at most ms': longestMs,
    },
  };
}

function readActions(answer: Buffer): string[] {
  const { status } = JSON.parse(answer.toString()) as { status: { results: { action: string }[] } };
  return status.results.map(({ action }) => action);
}

async function load({ environment, generator }: Bench, count: number): Promise<void> {
  const plan = {
    name: 'load',
    method: 'POST',
    path: MAPS.collection(NAMESPACE),
    body: JSON.stringify(MAPS.manifest(NAMESPACE, 'restored-$N')),
    headers: { 'content-type': 'application/json' },
    pace: { clients: 64 },
    objects: count,
    once: true,
  };
  const { target } = environment;
  const job = { target, protocol: 'h2', connections: 4, plans: [plan], durationMs: 0 } as const;
  const [result] = (await generator.call('requests', job)).plans;
  if (result !== undefined && result.firstFailure !== '') throw new Error(`loading: ${result.firstFailure}`);
}

async function newest({ environment: { target } }: Bench): Promise<string> {
  const { body } = await demand(target, { path: `${MAPS.collection(NAMESPACE)}?limit=1` });
  const list = JSON.parse(body.toString()) as { metadata: { resourceVersion: string } };
  return list.metadata.resourceVersion;
}

async function until(isSo: () => Promise<boolean>, everyMs: number): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
