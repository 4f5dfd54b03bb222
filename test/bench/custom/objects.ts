import type { Bench, Figures } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import type { Plan } from '../load/jobs.ts';
import { atVersion, KINDS } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';
import { connectionsFor, costOf, measure, toFigures } from '../measure-requests.ts';
import {
  collectionOf,
  type Definition,
  noteDefinition,
  ruledDefinition,
  ruledObject,
} from './definitions.ts';
import { install } from './install.ts';

/** Objects of a definition beside config maps of the same size, which have next to no rules of their own. */

const OBJECTS = 1000;
const CLIENTS = 16;

interface Side {
  readonly name: 'custom' | 'built-in';
  readonly collection: string;
  manifest(name: string): object;
}

function sidesOf(namespace: string): readonly [Side, Side] {
  const { collection, manifest } = KINDS.configmaps;
  const note = noteDefinition();
  return [
    { name: 'built-in', collection: collection(namespace), manifest: (name) => manifest(namespace, name) },
    {
      name: 'custom',
      collection: collectionOf(note, namespace),
      manifest: (name) => ({ ...manifest(namespace, name), kind: 'Note', apiVersion: `${note.group}/v1` }),
    },
  ];
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Both kinds, with a thousand objects each to be read. */
export async function prepare(bench: Bench): Promise<void> {
  const { environment, generator } = bench;
  const { target, namespace } = environment;
  await install(target, noteDefinition());
  for (const side of sidesOf(namespace)) {
    const body = JSON.stringify(side.manifest('kept-$N'));
    const pace = { clients: CLIENTS };
    const plan: Plan = {
      name: 'load',
      method: 'POST',
      path: side.collection,
      body,
      headers: JSON_TYPE,
      pace,
    };
    const plans = [{ ...plan, objects: OBJECTS, once: true }];
    await generator.call('requests', { target, protocol: 'h2', connections: 4, plans, durationMs: 0 });
  }
}

export type Verb = 'create' | 'get' | 'list' | 'update' | 'patch';

function planOf(verb: Verb, { collection, manifest }: Side, round: string): Plan {
  const common = { name: verb, objects: OBJECTS, pace: { clients: CLIENTS } };
  switch (verb) {
    case 'create': {
      const body = JSON.stringify(manifest(`${round}-$S`));
      return { ...common, method: 'POST', path: collection, body, headers: JSON_TYPE };
    }
    case 'get':
      return { ...common, method: 'GET', path: `${collection}/kept-$N` };
    case 'list':
      return { ...common, method: 'GET', path: `${collection}?resourceVersion=0&limit=500` };
    case 'update': {
      const path = `${collection}/kept-$N`;
      const body = JSON.stringify(atVersion(manifest('kept-$N')));
      return { ...common, method: 'PUT', path, versionsFrom: path, body, headers: JSON_TYPE };
    }
    case 'patch': {
      const body = JSON.stringify({ data: { turn: '$S' } });
      const headers = { 'content-type': 'application/merge-patch+json' };
      return { ...common, method: 'PATCH', path: `${collection}/kept-$N`, body, headers };
    }
    default:
      return verb satisfies never;
  }
}

/** Rounds in turn, so that what else the machine does falls on both; the cheapest of each counts. */
const ROUNDS = 3;

export async function compare(bench: Bench, verb: Verb): Promise<readonly Figures[]> {
  const { environment } = bench;
  const best = new Map<string, Figures>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of sidesOf(environment.namespace)) {
      const plans = [planOf(verb, side, `r${round}-${verb}`)];
      const job = { protocol: 'h2', connections: connectionsFor(CLIENTS), plans } as const;
      const measured = toFigures(await measure(bench, { ...job, durationMs: bench.scale(4000, 1000) }));
      keepCheaper(best, side.name, measured);
    }
  }
  return rowsOf(`custom/${verb}`, best);
}

function keepCheaper(best: Map<string, Figures>, name: string, figures: Figures): void {
  const { serverCpuPer1000: known = Number.POSITIVE_INFINITY } = best.get(name) ?? {};
  if (figures.status === 'failed' || (figures.serverCpuPer1000 ?? known) < known) best.set(name, figures);
}

function rowsOf(scenario: string, best: ReadonlyMap<string, Figures>): Figures[] {
  const cost = (name: Side['name']): number => best.get(name)?.serverCpuPer1000 ?? Number.NaN;
  return [...best].map(([name, figures]) => ({
    ...figures,
    scenario: `${scenario}/${name}`,
    ...(name === 'custom'
      ? { facts: { 'times the CPU': cost('custom') / cost('built-in') }, note: 'goal: 1.2 times' }
      : {}),
  }));
}

const WATCHERS = 100;
const WRITES = 1000;

export async function compareWatches(bench: Bench): Promise<readonly Figures[]> {
  const best = new Map<string, Figures>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of sidesOf(bench.environment.namespace)) {
      keepCheaper(best, side.name, await watchOnce(bench, side));
    }
  }
  return rowsOf('custom/watch', best);
}

/** The writes are in it too. */
async function watchOnce({ environment, generator, scale }: Bench, side: Side): Promise<Figures> {
  const { target, measured } = environment;
  const { body } = await demand(target, { path: `${side.collection}?limit=1` });
  const list: { metadata: { resourceVersion: string } } = JSON.parse(body.toString());
  const path = `${side.collection}?watch=true&timeoutSeconds=600&resourceVersion=${list.metadata.resourceVersion}`;
  await generator.call('openWatches', {
    ...{ target, protocol: 'h1', connections: 10, watchers: WATCHERS, path, delays: false },
  });
  const objects = scale(WRITES, WRITES / 10);
  const plan = { ...planOf('patch', side, ''), objects, once: true };
  const stop = startUsage(measured);
  await generator.call('requests', { target, protocol: 'h2', connections: 4, plans: [plan], durationMs: 0 });
  const events = objects * WATCHERS;
  const result = await generator.call('awaitEvents', { events, timeoutMs: 60_000 });
  const usage = stop();
  await generator.call('closeWatches', undefined);
  if (result.events < events) return { status: 'failed', note: `${events - result.events} events were lost` };
  return { unit: 'events', count: result.events, ...costOf(usage, result.events) };
}

/** A schema of 500 kB with 200 rules. */
export async function ruled(bench: Bench): Promise<Figures> {
  const { target, namespace } = bench.environment;
  const definition: Definition = ruledDefinition();
  await install(target, definition);
  const body = JSON.stringify(ruledObject('ruled-$S'));
  const path = collectionOf(definition, namespace);
  const plan: Plan = { name: 'create', method: 'POST', path, body, headers: JSON_TYPE, pace: { clients: 1 } };
  const job = { protocol: 'h2', connections: 1, plans: [plan], durationMs: bench.scale(5000, 1000) } as const;
  return { ...toFigures(await measure(bench, job)), note: 'goal: 5 ms' };
}
