// @module-tag long
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createStage, eventually, type Stage } from '../kit/agent/stage.ts';
import { connectionOptions } from '../kit/connection.ts';
import type { ToolResult } from '../kit/tools.ts';

/** Logs, commands and ports of pods with the real kubectl, through the server to a node agent. */

let stage: Stage;

beforeAll(async () => {
  stage = await createStage('127.0.0.1', ['--authorization-mode=RBAC', '--emulated-version=1.36']);
});

afterAll(() => stage[Symbol.asyncDispose]());

const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };
const kubectl = (args: string, input?: string, env?: Record<string, string>): Promise<ToolResult> =>
  stage.cluster.kubectl(args, input, env);
const logPath = '/api/v1/namespaces/default/pods/one/log';

test('kubectl logs shows what the agent says, with what it asked for passed on', async () => {
  expect(await kubectl('logs one')).toMatchObject({ code: 0, stdout: 'first\nsecond\nthird\n' });
  expect((await kubectl('logs one --tail=1 --timestamps')).stdout).toBe('third\n');
  expect(stage.agent.requests.at(-1)).toBe('GET /containerLogs/default/one/main?tailLines=1&timestamps=true');
  const skipped = await kubectl('logs one --insecure-skip-tls-verify-backend');
  expect(skipped).toMatchObject({ code: 0, stdout: 'first\nsecond\nthird\n' });
});

test('a followed log arrives line by line and lasts until the client leaves, which the agent learns', async () => {
  const logs = stage.spawnKubectl(['logs', '-f', 'one']);
  await logs.says('third');
  stage.agent.log('and one more');
  await logs.says('and one more');
  logs.process.kill('SIGKILL');
  await eventually(() => stage.agent.connections === 0);
});

test('what a log cannot be asked for is refused in the words of Kubernetes', async () => {
  const ask = (query: string) => stage.cluster.request('GET', `${logPath}?${query}`);
  const invalid = await ask('tailLines=-1&limitBytes=0&sinceSeconds=0');
  expect(invalid).toMatchObject({ code: 422, json: { reason: 'Invalid' } });
  expect(invalid.json.message).toBe(
    'PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, ' +
      'limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
  );
  const both = await ask('sinceSeconds=5&sinceTime=2024-01-01T00:00:00Z');
  expect(both.json.message).toContain('at most one of `sinceTime` or `sinceSeconds` may be specified');
  expect((await ask('tailLines=many')).code).toBe(400);
  expect((await ask('container=other')).json.message).toBe('container other is not valid for pod one');
  expect(await ask('previous=true')).toMatchObject({
    code: 400,
    json: { message: 'previous terminated container "one" in pod "one" not found' },
  });
});

test('of several containers one must be chosen; a pod without a node has no log and runs nothing', async () => {
  await stage.addPod('two', { containers: ['left', 'right'] });
  const unclear = await stage.cluster.request('GET', logPath.replace('one', 'two'));
  expect(unclear).toMatchObject({
    code: 400,
    json: {
      message: 'a container name must be specified for pod two, choose one of: [left right]',
    },
  });
  expect((await kubectl('logs two -c right')).code).toBe(0);
  await stage.addPod('waiting', { node: '' });
  expect((await stage.cluster.request('GET', logPath.replace('one', 'waiting'))).code).toBe(204);
  const exec = await stage.cluster.request('POST', '/api/v1/namespaces/default/pods/waiting/exec?command=ls');
  expect(exec.json.message).toBe('pod waiting does not have a host assigned');
});

test.each([
  ['websocket', {}],
  ['SPDY', SPDY],
])('kubectl exec runs a command over %s, with input, both outputs and its exit code', async (_, env) => {
  expect(await kubectl('exec one -- echo hello', undefined, env)).toMatchObject({
    code: 0,
    stdout: 'hello\n',
  });
  expect(stage.agent.requests.at(-1)).toMatch(
    /\/exec\/default\/one\/main\?command=echo&command=hello&error=1&output=1$/,
  );
  const failed = await kubectl("exec one -- sh -c 'echo out; echo err >&2; exit 3'", undefined, env);
  expect(failed).toMatchObject({ code: 3, stdout: 'out\n' });
  expect(failed.stderr).toContain('err\n');
  const large = 'x'.repeat(2_000_000);
  const counted = await kubectl('exec -i one -- wc -c', large, env);
  expect(counted.stdout.trim()).toBe('2000000');
});

test('a command that the agent refuses fails with the words of the agent', async () => {
  const refused = await kubectl('exec one -- refuse', undefined, SPDY);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('unable to upgrade connection: container not found ("one")');
});

test('exec without an upgrade is refused', async () => {
  const answer = await stage.cluster.request('POST', '/api/v1/namespaces/default/pods/one/exec?command=ls');
  expect(answer).toMatchObject({ code: 400, json: { message: 'Upgrade request required' } });
});

test('kubectl attach speaks with what runs', async () => {
  const attached = await kubectl('attach -i one', 'said and heard\n');
  expect(attached.stdout).toContain('said and heard');
});

test('what clients send over websockets reaches agents over SPDY, and the other way unchanged', async () => {
  await kubectl('exec one -- true');
  expect(stage.agent.requests.at(-1)).toMatch(/^POST /);
  expect(stage.agent.headers).toMatchObject({
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': 'v4.channel.k8s.io',
  });
  expect(stage.agent.headers['sec-websocket-key']).toBeUndefined();
});

test('a terminal in a browser tells its size and ends its input', async () => {
  const path = '/api/v1/namespaces/default/pods/one/exec?command=cat&stdin=1&stdout=1&tty=1';
  const url = `wss://127.0.0.1:${stage.cluster.port}${path}`;
  const client = new WebSocket(url, ['v5.channel.k8s.io'], connectionOptions(stage.cluster));
  let output = '';
  let status = '';
  client.on('message', (message: Buffer) => {
    if (message[0] === 1) output += message.subarray(1).toString();
    if (message[0] === 3) status += message.subarray(1).toString();
  });
  const closed = once(client, 'close');
  await once(client, 'open');
  client.send(Buffer.from('\x04{"Width":80,"Height":24}'));
  client.send(Buffer.from('\x00typed'));
  await eventually(() => output.includes('resized to {"Width":80,"Height":24}') && output.includes('typed'));
  client.send(Buffer.of(255, 0));
  expect((await closed)[0]).toBe(1000);
  expect(JSON.parse(status)).toEqual({ metadata: {}, status: 'Success' });
});

/** Whether a websocket for a command is opened for a user with these verbs alone. */
async function opens(verbs: readonly string[]): Promise<'open' | number> {
  const name = verbs.join('-');
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const rules = [
    { apiGroups: [''], resources: ['pods/exec'], verbs },
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  ];
  await stage.cluster.request('POST', `${roles}/roles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }];
  await stage.cluster.request('POST', `${roles}/rolebindings`, { metadata: { name }, roleRef, subjects });
  const url = `wss://127.0.0.1:${stage.cluster.port}/api/v1/namespaces/default/pods/one/exec?command=cat&stdout=1`;
  const headers = { 'impersonate-user': name };
  const client = new WebSocket(url, ['v5.channel.k8s.io'], { ...connectionOptions(stage.cluster), headers });
  client.on('error', () => {});
  const [outcome] = await Promise.race([
    once(client, 'open').then(() => ['open' as const]),
    once(client, 'unexpected-response').then(([, { statusCode }]) => [Number(statusCode)]),
  ]);
  client.terminate();
  return outcome ?? 0;
}

test('a command over a websocket needs the right to create, beside that of its method', async () => {
  expect(await opens(['get'])).toBe(403);
  expect(await opens(['create'])).toBe(403);
  expect(await opens(['get', 'create'])).toBe('open');
  // kubectl asks again over SPDY.
  const again = await kubectl("exec -i one --as=create -- sh -c 'cat; exit 4'", 'through\n');
  expect(again).toMatchObject({ code: 4, stdout: 'through\n' });
});

test('with the gates off, websockets pass to the agent as they are', async () => {
  const flag = '--feature-gates=TranslateStreamCloseWebsocketRequests=false,PortForwardWebsockets=false';
  await using plain = await createStage('127.0.0.1', [flag]);
  const command = "exec -i one -- sh -c 'cat; exit 4'";
  expect(await plain.cluster.kubectl(command, 'through\n')).toMatchObject({ code: 4, stdout: 'through\n' });
  expect(plain.agent.requests.at(-1)).toMatch(/^GET /);
  expect(plain.agent.headers).toMatchObject({
    upgrade: 'websocket',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  });
  const forward = plain.spawnKubectl(['port-forward', 'pod/one', ':8080']);
  await forward.says(/Forwarding from 127\.0\.0\.1:\d+/);
  expect(await ask(Number(/127\.0\.0\.1:(\d+)/.exec(forward.output)?.[1]), 'one')).toBe('ONE');
});

test('websockets pass as they are to agents of nodes that declare to take them, since 1.36', async () => {
  const { port } = stage.agent;
  const declaredFeatures = ['ExtendWebSocketsToKubelet'];
  await stage.addNode('node-2', { host: '127.0.0.1', port, declaredFeatures });
  await stage.addPod('newer', { node: 'node-2' });
  const answer = await kubectl("exec -i newer -- sh -c 'cat; exit 4'", 'through\n');
  expect(answer).toMatchObject({ code: 4, stdout: 'through\n' });
  expect(stage.agent.headers).toMatchObject({
    upgrade: 'websocket',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  });
});

test('kubectl cp brings files in and out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-cp-'));
  writeFileSync(join(folder, 'in.txt'), 'copied\n');
  const copied = await kubectl(`cp ${folder}/in.txt one:${folder}/there.txt`);
  expect(copied).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'there.txt'), 'utf8')).toBe('copied\n');
  expect(await kubectl(`cp one:${folder}/there.txt ${folder}/back.txt`, undefined, SPDY)).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(folder, 'back.txt'), 'utf8')).toBe('copied\n');
});

test.each([
  ['websocket', {}],
  ['SPDY', SPDY],
])('kubectl port-forward carries several connections over %s', async (_, env) => {
  const forward = stage.spawnKubectl(['port-forward', 'pod/one', ':8080'], env);
  await forward.says(/Forwarding from 127\.0\.0\.1:\d+/);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(forward.output)?.[1]);
  expect(await Promise.all([ask(port, 'one'), ask(port, 'two')])).toEqual(['ONE', 'TWO']);
  expect(stage.agent.headers).toMatchObject({
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': 'portforward.k8s.io',
  });
  forward.process.kill('SIGKILL');
  await eventually(() => stage.agent.connections === 0);
});

function ask(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(text));
    socket.once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

test('discovery names the subresources with their verbs', async () => {
  const { json } = await stage.cluster.request('GET', '/api/v1');
  const found = Object.fromEntries(
    json.resources.map(({ name, kind, verbs }: { name: string; kind: string; verbs: string[] }) => [
      name,
      `${kind} ${verbs.join()}`,
    ]),
  );
  expect(found).toMatchObject({
    'pods/attach': 'PodAttachOptions create,get',
    'pods/exec': 'PodExecOptions create,get',
    'pods/log': 'Pod get',
    'pods/portforward': 'PodPortForwardOptions create,get',
    'pods/proxy': 'PodProxyOptions create,delete,get,patch,update',
    'services/proxy': 'ServiceProxyOptions create,delete,get,patch,update',
    'nodes/proxy': 'NodeProxyOptions create,delete,get,patch,update',
  });
  const { json: openapi } = await stage.cluster.request('GET', '/openapi/v2');
  const paths = '/api/v1/namespaces/{namespace}/pods/{name}';
  expect(Object.keys(openapi.paths[`${paths}/exec`])).toEqual(['get', 'post', 'parameters']);
  expect(Object.keys(openapi.paths[`${paths}/proxy/{path}`])).toContain('patch');
});
