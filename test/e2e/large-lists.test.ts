// @module-tag long
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { decodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import type { Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

/** Lists that are made while they are sent. */

let shared: SharedCluster;
let cluster: Cluster;

const COUNT = 300;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SELECTED = `${MAPS}?labelSelector=big%3Dyes`;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const nameOf = (at: number): string => `big-${String(at).padStart(3, '0')}`;
const dataOf = (at: number): string => `ümlaut ${at} `.repeat(at === 7 ? 40_000 : 200);

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
  for (let at = 0; at < COUNT; at += 1) {
    const metadata = { name: nameOf(at), labels: { big: 'yes' } };
    const { code } = await cluster.request('POST', MAPS, { metadata, data: { text: dataOf(at) } });
    expect(code).toBe(201);
  }
});

afterAll(() => shared[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly length: string | undefined;
  readonly bytes: Buffer;
}

/** Over HTTP/2. `enough`: gone after so many bytes. */
function ask(headers: Record<string, string>, enough = Number.POSITIVE_INFINITY): Promise<Answer> {
  const read = (name: string): Buffer => readFileSync(join(cluster.folder, 'certificates', name));
  const session = connect(`https://127.0.0.1:${cluster.port}`, {
    ca: read('ca.crt'),
    cert: read('admin.crt'),
    key: read('admin.key'),
  });
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': SELECTED, ...headers });
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let status = 0;
    let length: string | undefined;
    stream.on('response', (answered) => {
      status = answered[':status'] ?? 0;
      length = answered['content-length'];
    });
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes > enough) session.destroy();
    });
    stream.on('close', () => {
      session.close();
      resolve({ status, length, bytes: Buffer.concat(chunks) });
    });
    session.on('error', reject);
    stream.on('error', reject);
  });
}

const parse = (bytes: Buffer): { items: JsonObject[]; rows: JsonObject[] } => JSON.parse(bytes.toString());

const expected = Array.from({ length: COUNT }, (_, at) => ({ name: nameOf(at), text: dataOf(at) }));

const contentsOf = (items: readonly JsonObject[]): unknown[] =>
  items.map(({ metadata, data }) => ({
    name: (metadata as JsonObject).name,
    text: (data as JsonObject).text,
  }));

test('JSON comes whole over HTTP/2 and HTTP/1.1, with its length', async () => {
  const { bytes, length, status } = await ask({});
  expect(status).toBe(200);
  expect(length).toBe(String(bytes.length));
  expect(contentsOf(parse(bytes).items)).toEqual(expected);
  const { plain, other } = await askBoth({}, () => cluster.request('GET', SELECTED));
  expect(other.text).toBe(plain.bytes.toString());
});

test('compressed it is the same, again and after a change', async () => {
  const types = [
    METADATA,
    'application/vnd.kubernetes.protobuf',
    'application/yaml',
    'application/json;pretty=1',
  ];
  const forms = [{}, ...types.map((accept) => ({ accept }))];
  for (const turn of ['first', 'again', 'changed']) {
    if (turn === 'changed') {
      const patch = { metadata: { labels: { turn } } };
      const type = { 'content-type': 'application/merge-patch+json' };
      expect((await cluster.request('PATCH', `${MAPS}/${nameOf(150)}`, patch, type)).code).toBe(200);
    }
    for (const form of forms) {
      const { plain, other } = await askBoth(form, () => ask({ ...form, 'accept-encoding': 'gzip' }));
      expect(other.length).toBeUndefined();
      expect(gunzipSync(other.bytes).equals(plain.bytes), turn).toBe(true);
    }
  }
});

/** Asks for a list in this form and in another at one revision: the server's own writes, such as leases, change that of the list. */
async function askBoth<T>(form: Record<string, string>, askOther: () => Promise<T>) {
  let before = await ask(form);
  for (;;) {
    const other = await askOther();
    const plain = await ask(form);
    if (before.bytes.equals(plain.bytes)) return { plain, other };
    before = plain;
  }
}

test('protobuf is the same the first time and when it is kept', async () => {
  const headers = { accept: 'application/vnd.kubernetes.protobuf' };
  const schema = loadTypes().message('core/v1.ConfigMapList');
  const itemsOf = ({ bytes }: Answer) => decodeEnvelope(bytes, schema).items as JsonObject[];
  const first = await ask(headers);
  expect(first.length).toBe(String(first.bytes.length));
  expect(contentsOf(itemsOf(first))).toEqual(expected);
  expect(itemsOf(await ask(headers))).toEqual(itemsOf(first));
});

test('metadata alone is that of the objects', async () => {
  const { items } = parse((await ask({ accept: METADATA })).bytes);
  const whole = parse((await ask({})).bytes).items;
  expect(items).toEqual(
    whole.map(({ metadata }) => ({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata })),
  );
});

test('a table shows what is stored now, and ages that go on', async () => {
  const read = async (): Promise<unknown[][]> =>
    parse((await ask({ accept: TABLE })).bytes).rows.map(({ cells }) => cells as unknown[]);
  const before = await read();
  expect(before.map(([name, count]) => [name, count])).toEqual(expected.map(({ name }) => [name, 1]));
  await cluster.request(
    'PATCH',
    `${MAPS}/${nameOf(3)}`,
    { data: { more: 'x' } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  await expect.poll(async () => (await read())[4]?.[2]).not.toBe(before[4]?.[2]);
  const after = await read();
  expect(after[3]?.[1]).toBe(2);
  expect(after[4]?.[1]).toBe(1);
});

test('a client that goes away in the middle leaves a server that serves the next', async () => {
  const { bytes } = await ask({}, 300_000);
  expect(bytes.length).toBeGreaterThan(300_000);
  await ask({ 'accept-encoding': 'gzip' }, 1000);
  expect(contentsOf(parse((await ask({})).bytes).items).length).toBe(COUNT);
});
