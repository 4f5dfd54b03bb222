// @module-tag long
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import type { ProbeReading } from '../kit/event-loop-probe.ts';
import { expectHarmless, MAX_GROWTH_BYTES } from '../kit/hostile-request.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Answers of many megabytes, in every form: none of them holds others up, or more memory than a moment of it takes. */

let database: TestDatabase;
let cluster: Cluster;

const MAPS = '/api/v1/namespaces/default/configmaps';
const COUNT = 2000;
const WIDE_KEYS = 20_000;
const nameOf = (at: number): string => `large-${String(at).padStart(4, '0')}`;

/** As many values as a pod of 16 kB has. */
const dataOf = (at: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: 150 }, (_, key) => [`key-${key}`, `line ${at}: ${'text '.repeat(18)}`]),
  );

const create = async (name: string, data: Record<string, string>): Promise<void> => {
  const body = { metadata: { name, labels: { kind: name === 'wide' ? 'wide' : 'many' } }, data };
  expect((await cluster.request('POST', MAPS, body)).code).toBe(201);
};

beforeAll(async () => {
  database = await createTestDatabase();
  const preload = fileURLToPath(new URL('../kit/event-loop-probe.ts', import.meta.url));
  cluster = await startCluster(database.url, ['--feature-gates=WatchList=true'], { preload });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < COUNT; at = next++) await create(nameOf(at), dataOf(at));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const keys = Array.from({ length: WIDE_KEYS }, (_, at) => [`key-${(at * 7919) % WIDE_KEYS}`, '']);
  await create('wide', Object.fromEntries(keys) as Record<string, string>);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const MANY = `${MAPS}?labelSelector=kind%3Dmany`;
const TABLE = ';as=Table;v=v1;g=meta.k8s.io';
const METADATA = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const LISTS: readonly (readonly [name: string, path: string, accept: string])[] = [
  ['JSON', MANY, 'application/json'],
  ['pretty JSON', `${MANY}&pretty=true`, 'application/json'],
  ['YAML', MANY, 'application/yaml'],
  ['protobuf', MANY, 'application/vnd.kubernetes.protobuf'],
  ['a table', MANY, `application/json${TABLE}`],
  [
    'a table of whole objects in pretty JSON',
    `${MANY}&pretty=true&includeObject=Object`,
    `application/json${TABLE}`,
  ],
  ['a table of whole objects in YAML', `${MANY}&includeObject=Object`, `application/yaml${TABLE}`],
  ['metadata in pretty JSON', `${MANY}&pretty=true`, `application/json${METADATA}`],
  ['metadata in YAML', MANY, `application/yaml${METADATA}`],
];

const OTHERS: readonly (readonly [name: string, path: string, accept: string])[] = [
  ['an object of very many keys in YAML', `${MAPS}/wide`, 'application/yaml'],
  ['an object of very many keys in pretty JSON', `${MAPS}/wide?pretty=true`, 'application/json'],
  ['a list of very many keys in YAML', `${MAPS}?labelSelector=kind%3Dwide`, 'application/yaml'],
  ['OpenAPI v2', '/openapi/v2', 'application/json'],
  ['OpenAPI v2 as protobuf', '/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
  ['all of OpenAPI v3', '/openapi/v3', 'application/json'],
  [
    'the aggregated discovery document',
    '/apis',
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  ],
];

test.each([...LISTS, ...OTHERS])('%s blocks the thread only shortly', async (name, path, accept) => {
  await expectHarmless(cluster, { name, method: 'GET', path, headers: { accept }, codes: [200] });
});

test('deletecollection in YAML blocks the thread only shortly', async () => {
  const headers = { accept: 'application/yaml' };
  const path = `${MANY}&dryRun=All&limit=500`;
  await expectHarmless(cluster, { name: 'deletecollection', method: 'DELETE', path, headers, codes: [200] });
});

const itemsOf = ({ items, rows }: JsonObject): JsonObject[] => (items ?? rows) as JsonObject[];

/** Reads a first piece over HTTP/2, then nothing until `meanwhile` has ended; answers everything. */
async function readSlowly(path: string, accept: string, meanwhile: () => Promise<void>): Promise<string> {
  const read = (name: string): Buffer => readFileSync(join(cluster.folder, 'certificates', name));
  const session = connect(`https://127.0.0.1:${cluster.port}`, {
    ca: read('ca.crt'),
    cert: read('admin.crt'),
    key: read('admin.key'),
  });
  try {
    const stream = session.request({ ':path': path, accept });
    const chunks: Buffer[] = [];
    const first = new Promise<void>((resolve, reject) => {
      stream.once('error', reject);
      stream.once('data', (chunk: Buffer) => {
        stream.pause();
        chunks.push(chunk);
        resolve();
      });
    });
    await first;
    await meanwhile();
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.resume();
    await new Promise((resolve) => stream.once('end', resolve));
    return Buffer.concat(chunks).toString();
  } finally {
    session.close();
  }
}

test.each(LISTS.filter(([, , accept]) => !accept.includes('protobuf')))(
  '%s waits for its client, and is whole when it is read',
  async (_, path, accept) => {
    await cluster.ask('begin');
    const text = await readSlowly(path, accept, async () => {
      // Others are answered meanwhile, often enough for a garbage collection to show what is held.
      for (let round = 0; round < 20; round += 1) await cluster.request('GET', `${MAPS}/${nameOf(round)}`);
      const { grownBytes } = (await cluster.ask('end')) as ProbeReading;
      expect(grownBytes).toBeLessThan(MAX_GROWTH_BYTES / 2);
    });
    if (accept.startsWith('application/yaml'))
      expect(text.match(/^- (?:apiVersion|cells|data):/gm)?.length).toBe(COUNT);
    else expect(itemsOf(JSON.parse(text) as JsonObject).length).toBe(COUNT);
  },
);
