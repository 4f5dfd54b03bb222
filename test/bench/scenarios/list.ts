import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { loadObjects } from '../environment/load-objects.ts';
import { KINDS } from '../manifests.ts';
import { measure, toFigures, withLimit } from '../measure-requests.ts';

interface Form {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pages?: boolean;
}

const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

const FORMS: readonly Form[] = [
  { name: 'json' },
  { name: 'json-cached', query: 'resourceVersion=0' },
  { name: 'selector-none', query: 'labelSelector=app%3Dnothing-has-this' },
  { name: 'selector-all', query: 'labelSelector=app%3Dweb' },
  { name: 'chunks-of-500', query: 'limit=500', pages: true },
  { name: 'table', headers: { accept: as('Table') } },
  { name: 'protobuf', headers: { accept: 'application/vnd.kubernetes.protobuf' } },
  { name: 'gzip', headers: { 'accept-encoding': 'gzip' } },
  { name: 'metadata', headers: { accept: as('PartialObjectMetadataList') } },
];

const SIZES = [1000, 10_000];
/** --quick lists a tenth; the names stay, so that results can be compared with those of the same run only. */
const QUICK = 0.1;

/** All pods of a namespace, in every form, one list after the other. */
export const list: Group = {
  server: 'shared',
  scenarios: SIZES.flatMap((size) => FORMS.map((form) => toScenario(size, form))),
};

function toScenario(size: number, form: Form): Scenario<Bench> {
  return { name: `list/${size}-pods/${form.name}`, run: (bench) => run(bench, { size, form }) };
}

/** The sizes are loaded one after the other: what the smaller lists is part of the larger. */
const loaded = new WeakMap<object, number>();

async function ensureLoaded(bench: Bench, size: number): Promise<void> {
  const { environment } = bench;
  const before = loaded.get(environment) ?? 0;
  if (before >= size) return;
  await loadObjects(bench, { kind: 'pods', name: `p${size}-$N`, running: true, count: size - before });
  loaded.set(environment, size);
}

async function run(bench: Bench, { size, form }: { size: number; form: Form }): Promise<Figures> {
  await ensureLoaded(bench, bench.scale(size, size * QUICK));
  const { target, namespace } = bench.environment;
  const path = `${KINDS.pods.collection(namespace)}?${form.query ?? ''}`;
  const { headers = {}, pages = false } = form;
  const plan = { name: 'list', method: 'GET', path, headers, pages, pace: { clients: 1 } };
  const durationMs = bench.scale(4000, 800);
  const job = { target, protocol: 'h2' as const, connections: 1, plans: [plan], durationMs };
  const measured = await measure(bench, job);
  const [result] = measured.result.plans;
  const figures = toFigures(measured);
  if (figures.status !== undefined || result === undefined) return figures;
  const whole = {
    ...figures,
    firstByteP50Ms: result.firstByteMs.p50,
    facts: { MB: result.bytes / result.count / 1e6 },
    ...(pages ? { unit: 'chunks' } : {}),
  };
  const { body, headers: answered } = await demand(target, { path, headers });
  const encoding = answered['content-encoding'];
  const sent = {
    body,
    headers: {
      'content-type': answered['content-type'] ?? '',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  };
  const once = { ...job, plans: [{ ...plan, pages: false }] };
  return withLimit(
    whole,
    'bare node sending the same bytes',
    await bench.limits.bytes(bench.generator, once, sent),
  );
}
