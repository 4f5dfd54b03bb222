import { readFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { decodeObject } from '../../../src/codec/decode.ts';
import { decodeEnvelope, encodeEnvelope } from '../../../src/codec/protobuf/envelope.ts';
import type { Cluster } from '../../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

/** The formats of requests, answers, lists, watches, errors and options. */

let shared: SharedCluster;
let cluster: Cluster;
const types = loadTypes();

const MAPS = '/api/v1/namespaces/default/configmaps';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
  for (const name of ['a', 'b'])
    await cluster.request('POST', MAPS, { metadata: { name, labels: { x: name } }, data: { k: name } });
});

afterAll(() => shared[Symbol.asyncDispose]());

interface Raw {
  readonly code: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
}

/** The answer's bytes as they came. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: Buffer | string,
): Promise<Raw> {
  const read = (name: string): Buffer => readFileSync(join(cluster.folder, 'certificates', name));
  const options = {
    method,
    agent: false,
    host: '127.0.0.1',
    port: cluster.port,
    path,
    ca: read('ca.crt'),
    cert: read('admin.crt'),
    key: read('admin.key'),
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body ?? '')) },
  };
  return new Promise((resolve, reject) => {
    const request = httpsRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ code: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    request.once('error', reject);
    request.end(body);
  });
}

const decode = (bytes: Buffer, type: string): JsonObject =>
  decodeObject(decodeEnvelope(bytes, types.message(type)), types.message(type)).object;

test('an object made in one format reads the same in all', async () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'made' }, data: { k: 'v' } };
  const sent = encodeEnvelope(object, types.message('core/v1.ConfigMap'));
  const created = await raw('POST', MAPS, { 'content-type': PROTOBUF, accept: PROTOBUF }, sent);
  expect(created).toMatchObject({ code: 201, headers: { 'content-type': PROTOBUF } });
  const json = JSON.parse(
    (await raw('GET', `${MAPS}/made`, { accept: 'application/json' })).bytes.toString(),
  );
  expect(decode(created.bytes, 'core/v1.ConfigMap')).toEqual(json);
  const yaml = await raw('GET', `${MAPS}/made`, { accept: 'application/yaml' });
  expect(yaml.headers['content-type']).toBe('application/yaml');
  expect(parseAllDocuments(yaml.bytes.toString())[0]?.toJS()).toEqual(json);
  const put = await raw(
    'PUT',
    `${MAPS}/made`,
    { 'content-type': 'application/yaml', accept: 'application/json' },
    yaml.bytes,
  );
  expect(JSON.parse(put.bytes.toString())).toEqual(json);
});

test('lists, partial metadata, statuses and errors have a protobuf form', async () => {
  const list = await raw('GET', MAPS, { accept: PROTOBUF });
  const { items, metadata } = decode(list.bytes, 'core/v1.ConfigMapList') as {
    items: JsonObject[];
    metadata: JsonObject;
  };
  expect(items.map((item) => (item.metadata as JsonObject).name)).toEqual(expect.arrayContaining(['a', 'b']));
  expect(metadata.resourceVersion).toMatch(/^\d+$/);
  const accept = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
  const partial = decode((await raw('GET', MAPS, { accept })).bytes, 'meta/v1.PartialObjectMetadataList');
  expect(partial).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
  const missing = await raw('GET', `${MAPS}/none`, { accept: PROTOBUF });
  expect(missing).toMatchObject({ code: 404, headers: { 'content-type': PROTOBUF } });
  expect(decode(missing.bytes, 'meta/v1.Status')).toMatchObject({
    kind: 'Status',
    reason: 'NotFound',
    code: 404,
  });
  await cluster.request('POST', MAPS, { metadata: { name: 'gone' } });
  const options = encodeEnvelope(
    { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
    types.message('meta/v1.DeleteOptions'),
  );
  const dry = await raw('DELETE', `${MAPS}/gone`, { 'content-type': PROTOBUF, accept: PROTOBUF }, options);
  expect(decode(dry.bytes, 'meta/v1.Status')).toMatchObject({ status: 'Success' });
  expect((await cluster.request('GET', `${MAPS}/gone`)).code).toBe(200);
});

test('a watch speaks protobuf, tables and partial metadata, its end included', async () => {
  const frames = await raw('GET', `${MAPS}?watch=1&timeoutSeconds=1`, { accept: PROTOBUF });
  expect(frames.headers['content-type']).toBe(`${PROTOBUF};stream=watch`);
  const sizes: number[] = [];
  for (let at = 0; at < frames.bytes.length; at += 4 + (sizes.at(-1) ?? 0))
    sizes.push(frames.bytes.readUInt32BE(at));
  expect(sizes.length).toBeGreaterThanOrEqual(2);
  const yaml = await raw('GET', `${MAPS}?watch=1&timeoutSeconds=1`, { accept: 'application/yaml' });
  // As of kube-apiserver, YAML is no format of watches.
  expect(yaml.code).toBe(406);
  expect(parseAllDocuments(yaml.bytes.toString())[0]?.toJS().message).toBe(
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  );
  const table = await raw('GET', `${MAPS}?watch=1&timeoutSeconds=1`, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  });
  const [first, second] = table.bytes
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first.object.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'Data',
    'Age',
  ]);
  expect(second.object).toMatchObject({ kind: 'Table', columnDefinitions: null });
  const partial = await raw('GET', `${MAPS}?watch=1&timeoutSeconds=1`, {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  });
  expect(JSON.parse(partial.bytes.toString().split('\n')[0] ?? '')).toMatchObject({
    type: 'ADDED',
    object: { kind: 'PartialObjectMetadata' },
  });
});

test('Accept is a list of preferences, and what is not there is passed over', async () => {
  const chosen: [string, string, string][] = [
    ['*/*', 'application/json', 'ConfigMap'],
    ['application/*', 'application/json', 'ConfigMap'],
    ['text/html, application/yaml;q=0.5, application/json;q=0.4', 'application/yaml', ''],
    ['application/json;as=Table;g=meta.k8s.io;v=v1, application/json', 'application/json', 'Table'],
    ['application/json;as=Table;g=meta.k8s.io;v=v9, application/json', 'application/json', 'ConfigMap'],
    [
      `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1, application/json;as=Table;g=meta.k8s.io;v=v1`,
      'application/json',
      'Table',
    ],
    [
      'application/json;as=PartialObjectMetadata;g=meta.cluster.io;v=v1',
      'application/json',
      'PartialObjectMetadata',
    ],
  ];
  for (const [accept, type, kind] of chosen) {
    const answer = await raw('GET', `${MAPS}/a`, { accept });
    expect(String(answer.headers['content-type']).split(';')[0], accept).toBe(type);
    if (kind !== '') expect(JSON.parse(answer.bytes.toString()).kind, accept).toBe(kind);
  }
  const none = await raw('GET', `${MAPS}/a`, { accept: 'text/html' });
  expect(none.code).toBe(406);
  expect(JSON.parse(none.bytes.toString()).message).toContain('application/json, application/yaml');
  const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const table = {
    'content-type': 'application/json',
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  };
  const spec = '{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}';
  expect((await raw('POST', review, table, spec)).code).toBe(406);
  const either = { ...table, accept: `${table.accept},application/json` };
  expect((await raw('POST', review, either, spec)).code).toBe(201);
  const body = await raw('POST', MAPS, { 'content-type': 'text/plain' }, 'x');
  expect(body.code).toBe(415);
  const patch = await raw('PATCH', `${MAPS}/a`, { 'content-type': 'application/json' }, '{}');
  expect(patch.code).toBe(415);
  expect(JSON.parse(patch.bytes.toString()).message).toBe('415: Unsupported Media Type');
});

test('tables carry what includeObject asks for', async () => {
  const table = async (query: string) =>
    JSON.parse(
      (
        await raw('GET', `${MAPS}/a${query}`, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
      ).bytes.toString(),
    );
  expect((await table('')).rows[0].object.kind).toBe('PartialObjectMetadata');
  expect((await table('?includeObject=Metadata')).rows[0].object.kind).toBe('PartialObjectMetadata');
  expect((await table('?includeObject=Object')).rows[0].object).toMatchObject({
    kind: 'ConfigMap',
    data: { k: 'a' },
  });
  expect((await table('?includeObject=None')).rows[0].object ?? null).toBeNull();
  const wrong = await raw('GET', `${MAPS}/a?includeObject=Some`, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  });
  expect(wrong.code).toBe(400);
});

test('large answers are compressed for who asks, pretty ones have lines', async () => {
  const data = { k: 'x'.repeat(200_000) };
  await cluster.request('POST', MAPS, { metadata: { name: 'large' }, data });
  const packed = await raw('GET', `${MAPS}/large`, { 'accept-encoding': 'gzip' });
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(packed.bytes).toString()).data).toEqual(data);
  expect((await raw('GET', `${MAPS}/large`, {})).headers['content-encoding']).toBeUndefined();
  expect(
    (await raw('GET', `${MAPS}/a`, { 'accept-encoding': 'gzip' })).headers['content-encoding'],
  ).toBeUndefined();
  expect((await raw('GET', `${MAPS}/a?pretty=true`, {})).bytes.toString()).toContain(
    '{\n  "kind": "ConfigMap",\n',
  );
  expect((await raw('GET', `${MAPS}/a`, { 'user-agent': 'curl/8' })).bytes.toString()).toContain('\n  ');
  expect(
    (await raw('GET', `${MAPS}/a?pretty=false`, { 'user-agent': 'curl/8' })).bytes.toString(),
  ).not.toContain('\n  ');
});

test('discovery has a protobuf form', async () => {
  const groups = await raw('GET', '/apis', { accept: PROTOBUF });
  expect(decode(groups.bytes, 'meta/v1.APIGroupList').groups).toContainEqual(
    expect.objectContaining({ name: 'apps' }),
  );
  const resources = await raw('GET', '/apis/apps/v1', { accept: PROTOBUF });
  expect(decode(resources.bytes, 'meta/v1.APIResourceList').resources).toContainEqual(
    expect.objectContaining({ name: 'deployments/scale', kind: 'Scale' }),
  );
});

test('OpenAPI and discovery have the forms that clients of the Go library ask for', async () => {
  const v2 = await raw('GET', '/openapi/v2', {
    accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  });
  expect(v2.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
  expect(v2.bytes.subarray(0, 5).toString('latin1')).toBe('\n\x032.0');
  const v3 = await raw('GET', '/openapi/v3/apis/apps/v1', {
    accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
  });
  expect(v3.bytes.subarray(0, 7).toString('latin1')).toBe('\n\x053.0.0');
  const again = await raw('GET', '/openapi/v2', {
    accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    'if-none-match': String(v2.headers.etag),
  });
  expect(again.code).toBe(304);
  expect((await raw('GET', '/openapi/v2', {})).headers['content-type']).toBe('application/json');
});
