import { Agent } from 'node:https';
import type { Figures, Stage } from '../bench.ts';
import { ask, demand } from '../environment/ask.ts';
import type { Target } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { summarize } from '../measure/percentile.ts';
import { collectionOf, DEFINITIONS, type Definition, freshDefinition } from './definitions.ts';

/** From the reply to a definition's write until each of two servers has created an object of it. */
export async function served(stage: Stage): Promise<Figures> {
  if (stage.settings.kubeconfig !== undefined) return { status: 'not supported', note: 'takes two servers' };
  await using environment = await stage.open();
  const { own, target, namespace } = environment;
  if (own === undefined) throw new Error('the server is not our own');
  await using beside = await own.startBeside();
  const times: number[] = [];
  const writes: number[] = [];
  const rounds = stage.scale(60, 12);
  for (let round = 0; round < rounds; round += 1) {
    const definition = freshDefinition(round);
    writes.push(await timeOfWrite(target, namespace, round));
    await demand(target, { method: 'POST', path: DEFINITIONS, body: definition.json });
    const written = performance.now();
    const each = [target, beside.target].map((server, at) =>
      untilCreated(server, { definition, namespace, name: `on-${at}` }),
    );
    await Promise.all(each);
    // The first rounds are of servers that have not compiled what they do.
    if (round >= rounds / 6) times.push(performance.now() - written);
  }
  const { p50, p99 } = summarize(times);
  return {
    ...{ unit: 'definitions', count: times.length, p50Ms: p50, p99Ms: p99 },
    facts: { 'a write, p50 ms': summarize(writes).p50 },
    note: 'goal: 30 ms',
  };
}

/** Of a config map: a definition is served after a second write, that of its status. */
async function timeOfWrite(target: Target, namespace: string, round: number): Promise<number> {
  const { collection, manifest } = KINDS.configmaps;
  const body = JSON.stringify(manifest(namespace, `beside-${round}`));
  const startedAt = performance.now();
  await demand(target, { method: 'POST', path: collection(namespace), body });
  return performance.now() - startedAt;
}

/** They stay open: connecting takes longer than a request. */
const connections = new Agent({ keepAlive: true });

async function untilCreated(
  target: Target,
  wanted: { readonly definition: Definition; readonly namespace: string; readonly name: string },
): Promise<void> {
  const { definition, namespace, name } = wanted;
  const { kind, group } = definition;
  const body = JSON.stringify({ kind, apiVersion: `${group}/v1`, metadata: { name }, spec: {} });
  const path = collectionOf(definition, namespace);
  for (;;) {
    const { status, body: answer } = await ask(target, { method: 'POST', path, body }, connections);
    if (status === 201) return;
    if (status !== 404) throw new Error(`${path}: ${status} ${answer.toString('utf8', 0, 300)}`);
  }
}
