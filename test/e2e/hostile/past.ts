import { expect } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';

/** What is asked of the past of large objects, and Restores that ask for much. */
const HISTORY = '/apis/history.cluster.io/v1alpha1';
const RESTORES = `${HISTORY}/restores?dryRun=All`;
const CORE = '/api/v1/namespaces/default';

const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));

/** 12,000 elements with a key each, or 40,000 keys of a map: each of them is changed. */
const STATES = {
  endpoints: (node: string) => ({
    subsets: [
      {
        addresses: many(12_000, (at) => ({
          ip: `10.1.${at >> 8}.${at & 255}`,
          nodeName: `${node}${at}`,
        })),
      },
    ],
  }),
  configmaps: (value: string) => ({ data: Object.fromEntries(many(40_000, (at) => [`k${at}`, value])) }),
} as const;

type Kind = keyof typeof STATES;

async function makeStates(cluster: Cluster, kind: Kind): Promise<void> {
  const object = (value: string) => ({ metadata: { name: 'past' }, ...STATES[kind](value) });
  const path = `${CORE}/${kind}`;
  const { code, text } = await cluster.request('GET', `${path}/past`);
  if (code === 200) return;
  expect(code, text).toBe(404);
  expect((await cluster.request('POST', path, object('a'))).code).toBe(201);
  expect((await cluster.request('PUT', `${path}/past`, object('b'))).code).toBe(200);
}

const of = (kind: Kind) => ({ before: (cluster: Cluster) => makeStates(cluster, kind) });
const selected = (kind: Kind): string =>
  encodeURIComponent(`object.resource=${kind},object.namespace=default,object.name=past`);

/** The numbers of the two revisions, the newest first. */
async function revisionsOf(cluster: Cluster, kind: Kind): Promise<string[]> {
  const { json } = await cluster.request('GET', `${HISTORY}/revisions?fieldSelector=${selected(kind)}`);
  return json.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
}

const asked = (kind: Kind, name: string, path: string): HostileRequest => ({
  ...{ ...of(kind), name: `${name} of ${kind}`, method: 'GET', path: `${HISTORY}/${path}` },
  codes: [200],
});

const restore = (name: string, kind: Kind, paths: () => readonly string[] | undefined): HostileRequest => ({
  ...{ ...of(kind), name, method: 'POST', path: RESTORES, codes: [201, 422] },
  send: async (cluster) => {
    const [, to] = await revisionsOf(cluster, kind);
    const object = { resource: kind, namespace: 'default', name: 'past' };
    const given = paths();
    const spec = { object, to, ...(given === undefined ? {} : { paths: given }) };
    return cluster.request('POST', RESTORES, { spec });
  },
});

const posted = (name: string, spec: () => object): HostileRequest => ({
  ...{ name, method: 'POST', path: RESTORES, codes: [422] },
  body: () => JSON.stringify({ spec: spec() }),
});

const OBJECT = { resource: 'configmaps', namespace: 'default', name: 'nobody' };

export const PAST: readonly HostileRequest[] = [
  ...(['endpoints', 'configmaps'] as const).flatMap((kind) => [
    asked(kind, 'the revisions', `revisions?fieldSelector=${selected(kind)}`),
    asked(kind, 'the blame', `blames/${kind}:default:past`),
    asked(kind, 'the timeline', `timelines/${kind}:default:past`),
    {
      ...{ ...asked(kind, 'why', ''), path: '' },
      send: async (cluster: Cluster) => {
        const [newest] = await revisionsOf(cluster, kind);
        return cluster.request('GET', `${HISTORY}/revisions/${newest}/why`);
      },
    },
    restore(`a restore of ${kind}`, kind, () => undefined),
  ]),
  asked('endpoints', 'the timeline of the namespace', 'timelines/namespace:default'),
  restore('a restore of 1,000 elements of a long list', 'endpoints', () =>
    many(1000, (at) => `subsets[0].addresses[ip=10.1.46.${at & 127}].nodeName`),
  ),
  restore('a restore of 1,000 keys of a large map', 'configmaps', () =>
    many(1000, (at) => `data.k${at * 39}`),
  ),
  posted('a restore of 45,000 paths', () => ({
    object: OBJECT,
    to: '1',
    paths: many(45_000, () => 'spec.replicas'),
  })),
  posted('a restore of 1,000 deep paths', () => ({
    ...{ object: OBJECT, to: '1' },
    paths: many(1000, (at) => `spec${'.a'.repeat(1200)}[b=${at}]`),
  })),
  posted('a restore of as many steps of paths as may be', () => ({
    ...{ object: OBJECT, to: '1' },
    paths: many(1000, (at) => `spec${'.a'.repeat(124)}[b=${at}]`),
  })),
  posted('a restore of one path of two megabytes', () => ({
    ...{ object: OBJECT, to: '1', paths: [`spec${'["\\"a'.repeat(300_000)}`] },
  })),
  posted('a restore of an object with a name of two megabytes', () => ({
    object: { ...OBJECT, name: 'x'.repeat(2_000_000) },
    to: '1',
  })),
  posted('a restore to a moment of two megabytes', () => ({ object: OBJECT, to: '9'.repeat(2_000_000) })),
];
