// @module-tag long
import { mkdtempSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureCertificates } from '../../src/cli/certificates.ts';
import { type NodeAgent, startAgent } from '../kit/agent/agent.ts';
import { createStage, eventually, type Stage } from '../kit/agent/stage.ts';

/** Node agents that are dead, slow or not who they say; clients and servers that leave. */

let stage: Stage;
let impostor: NodeAgent;
let mute: Server;

beforeAll(async () => {
  stage = await createStage('127.0.0.1', ['--agent-timeout=500ms']);
  const others = await ensureCertificates(mkdtempSync(join(tmpdir(), 'pg-apiserver-other-')), []);
  impostor = await startAgent(others.serving);
  mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await impostor[Symbol.asyncDispose]();
  mute.close();
});

const path = (pod: string, subresource: string): string =>
  `/api/v1/namespaces/default/pods/${pod}/${subresource}`;
const UPGRADE = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };

async function place(name: string, port: number): Promise<void> {
  await stage.addNode(name, { host: '127.0.0.1', port });
  await stage.addPod(name, { node: name });
}

test('an agent that is dead is named in the error', async () => {
  await place('dead', 1);
  const log = await stage.cluster.request('GET', path('dead', 'log'));
  expect(log.code).toBe(500);
  expect(log.json).not.toHaveProperty('reason');
  expect(log.json.message).toBe(
    'Get "https://127.0.0.1:1/containerLogs/default/dead/main": dial tcp 127.0.0.1:1: connect: connection refused',
  );
  const exec = await stage.cluster.request('POST', path('dead', 'exec?command=ls'), undefined, UPGRADE);
  expect(exec).toMatchObject({ code: 500 });
  expect(exec.json.message).toBe('error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused');
  const kubectl = await stage.cluster.kubectl('exec dead -- ls');
  expect(kubectl.stderr).toContain('error dialing backend');
});

test('an agent that is slow is given up after --agent-timeout', async () => {
  await place('mute', (mute.address() as { port: number }).port);
  const begun = Date.now();
  const log = await stage.cluster.request('GET', path('mute', 'log?follow=true'));
  expect(log.json.message).toContain('i/o timeout');
  stage.agent.silent = true;
  const exec = await stage.cluster.request('POST', path('one', 'exec?command=ls'), undefined, UPGRADE);
  expect(exec.json.message).toContain('i/o timeout');
  stage.agent.silent = false;
  // Without the flag each would take five seconds.
  expect(Date.now() - begun).toBeLessThan(9000);
});

test('an agent with the certificate of another authority gets nothing, unless the client says not to look', async () => {
  await place('impostor', impostor.port);
  const log = await stage.cluster.request('GET', path('impostor', 'log'));
  expect(log.json.message).toContain(
    'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  );
  const exec = await stage.cluster.request('POST', path('impostor', 'exec?command=ls'), undefined, UPGRADE);
  expect(exec.json.message).toContain('certificate signed by unknown authority');
  expect(impostor.requests).toEqual([]);
  const blind = await stage.cluster.request('GET', path('impostor', 'log?insecureSkipTLSVerifyBackend=true'));
  expect(blind).toMatchObject({ code: 200, text: 'first\nsecond\nthird\n' });
});

test('a node without a fitting address and a node that is gone have different errors', async () => {
  const node = {
    metadata: { name: 'nowhere' },
    status: { addresses: [{ type: 'ExternalIP', address: '192.0.2.9' }] },
  };
  await stage.cluster.request('POST', '/api/v1/nodes', node);
  await stage.addPod('nowhere', { node: 'nowhere' });
  expect((await stage.cluster.request('GET', path('nowhere', 'log'))).json.message).toBe(
    'no preferred addresses found; known addresses: [{ExternalIP 192.0.2.9}]',
  );
  await stage.addPod('lost', { node: 'gone' });
  expect(await stage.cluster.request('GET', path('lost', 'log'))).toMatchObject({
    code: 404,
    json: { message: 'pods "gone" not found' },
  });
});

test('a client that breaks off ends its command', async () => {
  const exec = stage.spawnKubectl(['exec', '-i', 'one', '--', 'sh', '-c', 'echo begun; cat']);
  await exec.says('begun');
  expect(stage.agent.connections).toBe(1);
  exec.process.kill('SIGKILL');
  await eventually(() => stage.agent.connections === 0);
});

test('an agent that dies ends the streams of its clients', async () => {
  const exec = stage.spawnKubectl(['exec', '-i', 'one', '--', 'sh', '-c', 'echo begun; cat']);
  const logs = stage.spawnKubectl(['logs', '-f', 'one']);
  await Promise.all([exec.says('begun'), logs.says('third')]);
  const { port } = stage.agent;
  await stage.agent[Symbol.asyncDispose]();
  expect(port).toBeGreaterThan(0);
  expect(await exec.ended).not.toBe(0);
  await logs.ended;
});

test('a server that ends takes no longer for commands and logs that go on', async () => {
  const agent = await startAgent(stage.certificates.serving);
  await place('lasting', agent.port);
  const exec = stage.spawnKubectl(['exec', '-i', 'lasting', '--', 'sh', '-c', 'echo begun; cat']);
  const logs = stage.spawnKubectl(['logs', '-f', 'lasting']);
  await Promise.all([exec.says('begun'), logs.says('third')]);
  const begun = Date.now();
  expect(await stage.cluster.stop()).toBe(0);
  // A request may take a minute, which is how long these would be waited for.
  expect(Date.now() - begun).toBeLessThan(30_000);
  await Promise.all([exec.ended, logs.ended]);
  await eventually(() => agent.connections === 0);
  await agent[Symbol.asyncDispose]();
});
