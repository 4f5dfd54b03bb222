import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { ask, demand } from '../environment/ask.ts';
import { KINDS } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';

const PODS = KINDS.pods.collection;
const MAPS = KINDS.configmaps.collection;
const LOOK_MS = 20;

type Policy = 'Background' | 'Foreground' | 'Orphan';
const POLICIES: readonly Policy[] = ['Background', 'Foreground', 'Orphan'];

/** Owners with many dependents, and a chain of them: from the deletion to the end of the last one. */
export const garbage: Group = {
  server: 'shared',
  scenarios: [
    ...POLICIES.map(toScenario),
    { name: 'garbage/chain/100', run: (bench) => chain(bench, 'Background') },
    { name: 'garbage/chain-foreground/100', run: (bench) => chain(bench, 'Foreground') },
  ],
};

function toScenario(policy: Policy): Scenario<Bench> {
  return { name: `garbage/${policy.toLowerCase()}/10000`, run: (bench) => one(bench, policy) };
}

interface Owner {
  readonly name: string;
  readonly uid: string;
}

async function one(bench: Bench, policy: Policy): Promise<Figures> {
  const { namespace, target } = bench.environment;
  const count = bench.scale(10_000, 1000);
  const owner = await create(bench, `owner-${policy.toLowerCase()}`);
  await loadDependents(bench, owner, count);
  const figures = await untilGone(bench, owner, { policy, count, ends: `${MAPS(namespace)}/${owner.name}` });
  if (policy === 'Orphan') {
    const path = `${PODS(namespace)}?labelSelector=owner%3D${owner.name}&gracePeriodSeconds=0`;
    await demand(target, { method: 'DELETE', path });
  }
  return figures;
}

/** An object, owned by another. */
async function create({ environment }: Bench, name: string, owner?: Owner): Promise<Owner> {
  const { target, namespace } = environment;
  const metadata = { name, ...(owner === undefined ? {} : { ownerReferences: [toReference(owner)] }) };
  const question = { method: 'POST', path: MAPS(namespace), body: JSON.stringify({ metadata }) };
  const { body } = await demand(target, question);
  const made = JSON.parse(body.toString()) as { metadata: { uid: string } };
  return { name, uid: made.metadata.uid };
}

const toReference = ({ name, uid }: Owner): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...{ name, uid },
  blockOwnerDeletion: true,
});

/** Pods that wait for a node, so that no node must let them go. */
async function loadDependents(bench: Bench, owner: Owner, count: number): Promise<void> {
  const { target, namespace } = bench.environment;
  const manifest = KINDS.pods.manifest(namespace, `${owner.name}-$N`) as {
    metadata: object;
    spec: { nodeName?: string };
  };
  const { nodeName: _, ...spec } = manifest.spec;
  const metadata = {
    ...manifest.metadata,
    labels: { owner: owner.name },
    ownerReferences: [toReference(owner)],
  };
  const plan = {
    name: 'load',
    method: 'POST',
    path: PODS(namespace),
    body: JSON.stringify({ ...manifest, metadata, spec }),
    headers: { 'content-type': 'application/json' },
    pace: { clients: 64 },
    objects: count,
    once: true,
  };
  const job = { target, protocol: 'h2', connections: 4, plans: [plan], durationMs: 0 } as const;
  const [result] = (await bench.generator.call('requests', job)).plans;
  if (result !== undefined && result.firstFailure !== '') throw new Error(`loading: ${result.firstFailure}`);
}

async function chain(bench: Bench, policy: Policy): Promise<Figures> {
  const { namespace } = bench.environment;
  const count = 100;
  const first = await create(bench, `${policy.toLowerCase()}-0`);
  let last = first;
  for (let at = 1; at < count; at += 1) last = await create(bench, `${policy.toLowerCase()}-${at}`, last);
  const ends = `${MAPS(namespace)}/${policy === 'Background' ? last.name : first.name}`;
  return untilGone(bench, first, { policy, count, ends });
}

/** `ends`: what goes last. */
async function untilGone(
  bench: Bench,
  owner: Owner,
  { policy, count, ends }: { readonly policy: Policy; readonly count: number; readonly ends: string },
): Promise<Figures> {
  const { target, namespace, measured } = bench.environment;
  const dependents = `${PODS(namespace)}?labelSelector=owner%3D${owner.name}&limit=1`;
  const stop = startUsage(measured);
  const path = `${MAPS(namespace)}/${owner.name}?propagationPolicy=${policy}`;
  await demand(target, { method: 'DELETE', path });
  const isThere = async (): Promise<boolean> => {
    if ((await ask(target, { path: ends })).status !== 404) return true;
    if (policy === 'Orphan') return false;
    const list = await demand(target, { path: dependents });
    return (JSON.parse(list.body.toString()) as { items: unknown[] }).items.length > 0;
  };
  while (await isThere()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const { seconds, serverCpu, databaseCpu, peakBytes } = stop();
  return {
    unit: 'objects',
    count,
    rate: count / seconds,
    facts: { seconds, 'server cpu s': serverCpu, 'database cpu s': databaseCpu },
    peakBytes,
  };
}
