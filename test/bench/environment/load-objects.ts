import { once } from 'node:events';
import type { Bench } from '../bench.ts';
import { type RowTemplate, RowWriter, slices, toRowTemplate } from '../limit/rows.ts';
import { compileTemplate } from '../load/template.ts';
import { KINDS, type KindName, podStatus } from '../manifests.ts';
import { ask, demand } from './ask.ts';
import type { Environment } from './environment.ts';

export interface Load {
  readonly kind: KindName;
  /** The name of object `$N`, 0…count-1. */
  readonly name: string;
  readonly count: number;
  /** Pods with the status a kubelet gives them. */
  readonly running?: boolean;
  /** Over how many nodes its pods are spread; 1,000 by default. */
  readonly nodes?: number;
}

export interface Loaded {
  /** All objects together, as JSON. */
  readonly jsonBytes: number;
}

const BATCH = 500;
const VISIBLE_TIMEOUT_MS = 120_000;

/**
 * Fills the server. One of our own gets the rows straight into its database, many times faster than through the API, and
 * hears of them as of the writes of another server; they are like the one that went through the API.
 */
export async function loadObjects(
  bench: Pick<Bench, 'environment' | 'generator'>,
  load: Load,
): Promise<Loaded> {
  const { environment } = bench;
  const sample = await sampleRow(environment, load.kind, load.name, load.running);
  const template = load.nodes === undefined ? sample : { ...sample, nodes: load.nodes };
  if (environment.own === undefined) await loadThroughApi(bench, load);
  else await loadRows(environment.own.databaseUrl, template, load.count);
  await untilVisible(environment, load);
  return { jsonBytes: Buffer.byteLength(template.json) * load.count };
}

/** One object through the API, and what the server made of it. */
export async function sampleRow(
  { target, namespace }: Environment,
  kind: KindName,
  name: string,
  running = false,
): Promise<RowTemplate> {
  const { collection, manifest } = KINDS[kind];
  const sample = `sample-${kind}-${Date.now().toString(36)}`;
  const path = collection(namespace);
  const object = manifest(namespace, sample);
  await demand(target, { method: 'POST', path, body: toSample(object) });
  if (running) {
    const body = toSample({ ...object, status: podStatus() });
    await demand(target, { method: 'PUT', path: `${path}/${sample}/status`, body });
  }
  const { body: answer } = await demand(target, { path: `${path}/${sample}` });
  await demand(target, { method: 'DELETE', path: `${path}/${sample}?gracePeriodSeconds=0` });
  return toRowTemplate(kind, namespace, name, answer.toString());
}

const toSample = (object: object): string => compileTemplate(JSON.stringify(object))({ object: 0 });

/** `first`: the number of the first row. */
export async function loadRows(url: string, template: RowTemplate, count: number, first = 0): Promise<void> {
  await using writer = await RowWriter.connect(url, template);
  for (const slice of slices(first, count, BATCH)) await writer.write('create', slice);
}

async function loadThroughApi(
  { environment, generator }: Pick<Bench, 'environment' | 'generator'>,
  { kind, name, count }: Load,
): Promise<void> {
  const { target, namespace } = environment;
  const { collection, manifest } = KINDS[kind];
  const plan = {
    name: 'load',
    method: 'POST',
    path: collection(namespace),
    body: JSON.stringify(manifest(namespace, name)),
    headers: { 'content-type': 'application/json' },
    pace: { clients: 64 },
    objects: count,
    once: true,
  };
  const job = { target, protocol: 'h2', connections: 4, plans: [plan], durationMs: 0 } as const;
  const [result] = (await generator.call('requests', job)).plans;
  if (result !== undefined && result.firstFailure !== '') throw new Error(`loading: ${result.firstFailure}`);
}

/** Another server's writes arrive in order, so the last one is enough. */
async function untilVisible({ target, namespace }: Environment, { kind, name, count }: Load): Promise<void> {
  const last = name.replaceAll('$N', String(count - 1));
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS;
  const path = `${KINDS[kind].collection(namespace)}/${last}?resourceVersion=0`;
  while ((await ask(target, { path })).status !== 200) {
    if (Date.now() > deadline) throw new Error(`${last} was written and does not appear`);
    await once(AbortSignal.timeout(50), 'abort');
  }
}
