import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createStage, type Stage } from '../kit/agent/stage.ts';
import { connectionOptions } from '../kit/connection.ts';

/** Watches and logs as browsers read them. */

let stage: Stage;

beforeAll(async () => {
  stage = await createStage('127.0.0.1');
});

afterAll(() => stage[Symbol.asyncDispose]());

interface Reader {
  readonly socket: WebSocket;
  readonly messages: { data: Buffer; binary: boolean }[];
  reached(count: number): Promise<void>;
  /** The close code, or the HTTP status of a refusal. */
  readonly ended: Promise<number>;
}

function open(path: string, protocols: string[] = [], headers: Record<string, string> = {}): Reader {
  const url = `wss://127.0.0.1:${stage.cluster.port}${path}`;
  const socket = new WebSocket(url, protocols, { ...connectionOptions(stage.cluster), headers });
  const messages: Reader['messages'] = [];
  socket.on('message', (data: Buffer, binary) => void messages.push({ data, binary }));
  socket.on('error', () => {});
  const ended = new Promise<number>((resolve) => {
    socket.once('close', resolve);
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
  });
  return {
    socket,
    messages,
    ended,
    reached: (count) => expect.poll(() => messages.length).toBeGreaterThanOrEqual(count),
  };
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const create = (name: string): Promise<unknown> =>
  stage.cluster.request('POST', configMaps, { metadata: { name } });

test('each event is one text message without a newline', async () => {
  const ownOnly = 'fieldSelector=metadata.name!=kube-root-ca.crt';
  const reader = open(`${configMaps}?watch=1&resourceVersion=0&${ownOnly}`, ['v1.events', 'other']);
  await create('first');
  await create('second');
  await reader.reached(2);
  expect(reader.socket.protocol).toBe('v1.events');
  for (const { data, binary } of reader.messages) {
    expect(binary).toBe(false);
    expect(data.toString()).not.toContain('\n');
  }
  const events = reader.messages.map(({ data }) => JSON.parse(data.toString()));
  expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    'ADDED first',
    'ADDED second',
  ]);
  reader.socket.close();
  await reader.ended;
});

test('protobuf events are binary messages without their length', async () => {
  const accept = 'application/vnd.kubernetes.protobuf;type=watch';
  const reader = open(`${configMaps}?watch=1`, [], {
    accept: `application/vnd.kubernetes.protobuf,${accept}`,
  });
  await reader.reached(2);
  const [first] = reader.messages;
  expect(first?.binary).toBe(true);
  expect(first?.data.subarray(0, 2).toString('hex')).toBe('0a05');
  expect(first?.data.toString('latin1')).toContain('ADDED');
  reader.socket.close();
});

test('a watch ends with its time, normally', async () => {
  const reader = open(`${configMaps}?watch=1&timeoutSeconds=1`);
  expect(await reader.ended).toBe(1000);
});

test('what is wrong with a watch is answered in HTTP before the upgrade', async () => {
  expect(await open('/api/v1/nothing?watch=1').ended).toBe(404);
  expect(await open(`${configMaps}?watch=1&resourceVersion=x`).ended).toBe(400);
  expect(await open('/healthz').ended).toBe(200);
  expect(await open(`${configMaps}/first`).ended).toBe(200);
});

test('a log is read as binary messages, or in base64 for those who ask', async () => {
  const log = '/api/v1/namespaces/default/pods/one/log';
  const plain = open(log, ['binary.k8s.io']);
  expect(await plain.ended).toBe(1000);
  expect(Buffer.concat(plain.messages.map(({ data }) => data)).toString()).toBe('first\nsecond\nthird\n');
  const encoded = open(log, ['base64.binary.k8s.io']);
  expect(await encoded.ended).toBe(1000);
  const decoded = encoded.messages.map(({ data }) => Buffer.from(data.toString(), 'base64').toString());
  expect(decoded.join('')).toBe('first\nsecond\nthird\n');
});

test('a body is not lost to an upgrade that the server does not know', async () => {
  const answer = await stage.cluster.request(
    'POST',
    configMaps,
    { metadata: { name: 'offered' } },
    { connection: 'Upgrade', upgrade: 'h2c' },
  );
  expect(answer.code).toBe(201);
});

test('a server that ends closes the watches of browsers', async () => {
  const reader = open(`${configMaps}?watch=1`);
  await reader.reached(1);
  expect(await stage.cluster.stop()).toBe(0);
  expect([1000, 1006]).toContain(await reader.ended);
});
