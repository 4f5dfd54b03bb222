// @module-tag long
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { makeRequestWithKey } from '../kit/certificate-request.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { JoiningNode, REQUESTS } from '../kit/joining-node.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Nodes join a cluster without a controller manager, as `kubeadm join` and kubelets do. */

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const PATIENCE = { timeout: 60_000, interval: 200 };
const FLAGS = ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'];
const NODES = '/api/v1/nodes';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const CLUSTER_INFO = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

let database: TestDatabase;
let cluster: Cluster;
let output: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const flags = [...FLAGS, '--enable-bootstrap-token-auth', '--emulated-version=1.36'];
  cluster = await startCluster(database.url, flags);
  const made = await configure('--apply', '--with-kube-proxy', '--pod-network-cidr=10.244.0.0/16');
  expect(made.code, made.stderr).toBe(0);
  output = made.stdout;
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const configure = (...flags: string[]): Promise<Ended> => configureWith(cluster.kubeconfig, ...flags);

function configureWith(kubeconfig: string, ...flags: string[]): Promise<Ended> {
  const args = [MAIN, 'kubeadm-config', `--kubeconfig=${kubeconfig}`, ...flags];
  return new Promise((resolve) =>
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  );
}

const dataOf = async (namespace: string, name: string): Promise<Record<string, string>> =>
  (await cluster.request('GET', `/api/v1/namespaces/${namespace}/configmaps/${name}`)).json.data;

const signatures = async (): Promise<string[]> =>
  Object.keys(await dataOf('kube-public', 'cluster-info'))
    .filter((key) => key !== 'kubeconfig')
    .map((key) => key.replace('jws-kubeconfig-', ''));

test('a node joins by the printed line, registers, keeps its lease, and renews its certificate', async () => {
  const node = new JoiningNode('worker-1', output);
  const bootstrap = await node.discover();
  const read = (name: string) =>
    node.send(bootstrap, 'GET', `/api/v1/namespaces/kube-system/configmaps/${name}?timeout=10s`);
  const kubeadm = parse((await read('kubeadm-config')).json.data.ClusterConfiguration);
  expect(kubeadm).toMatchObject({ kind: 'ClusterConfiguration', kubernetesVersion: 'v1.36.0' });
  expect(kubeadm.networking).toEqual({
    dnsDomain: 'cluster.local',
    serviceSubnet: '10.0.0.0/24',
    podSubnet: '10.244.0.0/16',
  });
  const kubelet = parse((await read('kubelet-config')).json.data.kubelet);
  expect(kubelet).toMatchObject({ kind: 'KubeletConfiguration', clusterDNS: ['10.0.0.10'] });
  expect(parse((await read('kube-proxy')).json.data['config.conf'])).toMatchObject({
    clusterCIDR: '10.244.0.0/16',
  });
  expect((await read('extension-apiserver-authentication')).code).toBe(403);
  expect((await node.send(bootstrap, 'GET', `${NODES}/worker-1?timeout=10s`)).code).toBe(404);

  const asked = await node.certificate(bootstrap);
  const pair = await asked.pair;
  const certificate = new X509Certificate(pair.cert);
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:worker-1');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  const request = await cluster.request('GET', `${REQUESTS}/${asked.name}`);
  expect(request.json.status.conditions).toMatchObject([
    { type: 'Approved', status: 'True', reason: 'AutoApproved' },
  ]);

  const kubeletIdentity = { ca: bootstrap.ca, pair };
  const registered = await node.send(kubeletIdentity, 'POST', NODES, {
    metadata: { name: 'worker-1', labels: { 'kubernetes.io/hostname': 'worker-1' } },
  });
  expect(registered.code, JSON.stringify(registered.json)).toBe(201);
  const annotated = {
    metadata: { annotations: { 'kubeadm.alpha.kubernetes.io/cri-socket': 'unix:///run' } },
  };
  expect((await node.send(kubeletIdentity, 'PATCH', `${NODES}/worker-1`, annotated)).code).toBe(200);
  const lease = { metadata: { name: 'worker-1' }, spec: { holderIdentity: 'worker-1' } };
  expect((await node.send(kubeletIdentity, 'POST', LEASES, lease)).code).toBe(201);

  const renewed = await (await node.certificate(kubeletIdentity)).pair;
  expect(renewed.cert).not.toBe(pair.cert);
  const identity = { ca: bootstrap.ca, pair: renewed };
  expect((await node.send(identity, 'GET', `${NODES}/worker-1`)).code).toBe(200);
  const other = await node.send(identity, 'POST', NODES, { metadata: { name: 'worker-2' } });
  expect(other.code).toBe(403);
  await expect(node.certificate(identity, { node: 'worker-2' })).rejects.toThrow(
    'can only create a node CSR with CN=system:node:worker-1',
  );
});

/** The approver has looked at it: a later one of a good node is approved meanwhile. */
async function expectPending(name: string): Promise<void> {
  const node = new JoiningNode(`later-${name}`, output);
  await (await node.certificate(await node.discover())).pair;
  const { json } = await cluster.request('GET', `${REQUESTS}/${name}`);
  expect(json.status).toEqual({});
}

test('a request with another organization, name, use or signer waits for an administrator', async () => {
  const node = new JoiningNode('worker-3', output);
  const bootstrap = await node.discover();
  for (const options of [
    { subject: 'O=system:masters, CN=system:node:worker-3' },
    { subject: 'O=system:nodes, O=system:masters, CN=system:node:worker-3' },
    { subject: 'O=system:nodes, CN=worker-3' },
    { usages: ['digital signature', 'client auth', 'server auth'] },
  ]) {
    const { name } = await node.certificate(bootstrap, options);
    await expectPending(name);
  }
});

test('what an administrator approves is signed, or fails with a reason', async () => {
  const approve = async (
    name: string,
    spec: Record<string, unknown>,
    subject: Parameters<typeof makeRequestWithKey>,
  ) => {
    const { request } = await makeRequestWithKey(...subject);
    const made = await cluster.request('POST', REQUESTS, { metadata: { name }, spec: { request, ...spec } });
    expect(made.code, made.text).toBe(201);
    const { code, stderr } = await cluster.kubectl(`certificate approve ${name}`);
    expect(code, stderr).toBe(0);
    return vi.waitFor(async () => {
      const { status } = (await cluster.request('GET', `${REQUESTS}/${name}`)).json;
      const failed = status.conditions.find(({ type }: { type: string }) => type === 'Failed');
      if (failed !== undefined) return failed;
      expect(status.certificate).toBeDefined();
      return new X509Certificate(Buffer.from(status.certificate, 'base64'));
    }, PATIENCE);
  };
  const ca = new X509Certificate(readFileSync(join(cluster.folder, 'certificates', 'ca.crt')));

  const client = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
  const jane = await approve('jane', { ...client, expirationSeconds: 3600 }, ['CN=jane, O=devs']);
  expect(jane.verify(ca.publicKey) && jane.checkIssued(ca)).toBe(true);
  expect(jane.validToDate.getTime() - Date.now()).toBeLessThan(3_600_000);
  expect(jane.ca).toBe(false);

  const serving = {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
  };
  const names = [
    { type: 'dns', value: 'worker-1' },
    { type: 'ip', value: '192.0.2.7' },
  ] as const;
  const kubelet: Parameters<typeof makeRequestWithKey> = [
    'O=system:nodes, CN=system:node:worker-1',
    { names },
  ];
  const served = await approve('serving', serving, kubelet);
  expect(served.subjectAltName).toBe('DNS:worker-1, IP Address:192.0.2.7');
  expect(await approve('nameless', serving, ['O=system:nodes, CN=system:node:worker-1'])).toMatchObject({
    reason: 'SignerValidationFailure',
    message: 'DNS or IP subjectAltName is required',
  });
  const server = { ...client, usages: ['client auth', 'server auth'] };
  expect(await approve('server', server, ['CN=joe'])).toMatchObject({
    status: 'True',
    message: 'invalid usage for client certificate: server auth',
  });
  const approved = await approve(
    'approved',
    { ...serving, signerName: 'kubernetes.io/kube-apiserver-client-kubelet' },
    kubelet,
  );
  expect(approved).toMatchObject({ message: 'DNS subjectAltNames are not allowed' });
});

test('a token that ends, or is changed, ends its signature and its use; one that is not for signing has none', async () => {
  const { stdout } = await configure('--apply', '--token=tokens.0123456789abcdef');
  const node = new JoiningNode('n', stdout);
  const bootstrap = await node.discover();
  expect(await signatures()).toContain('tokens');
  expect(Object.keys(await dataOf('kube-public', 'cluster-info')).length).toBeGreaterThan(2);
  const change = (data: Record<string, string>) =>
    cluster.request(
      'PATCH',
      `${SECRETS}/bootstrap-token-tokens`,
      { stringData: data },
      { 'content-type': 'application/merge-patch+json' },
    );

  expect((await change({ 'usage-bootstrap-signing': 'false' })).code).toBe(200);
  await vi.waitFor(async () => expect(await signatures()).not.toContain('tokens'), PATIENCE);
  expect((await change({ 'usage-bootstrap-signing': 'true', 'token-secret': 'fedcba9876543210' })).code).toBe(
    200,
  );
  await vi.waitFor(async () => expect(await signatures()).toContain('tokens'), PATIENCE);
  await expect(node.discover()).rejects.toThrow('failed to verify JWS signature');
  expect((await node.send(bootstrap, 'GET', REQUESTS)).code).toBe(401);

  await change({ expiration: new Date(Date.now() + 2000).toISOString() });
  await vi.waitFor(async () => {
    expect(await signatures()).not.toContain('tokens');
    expect((await cluster.request('GET', `${SECRETS}/bootstrap-token-tokens`)).code).toBe(404);
  }, PATIENCE);
  const late = { ...bootstrap, token: 'tokens.fedcba9876543210' };
  expect((await node.send(late, 'GET', REQUESTS)).code).toBe(401);
});

test('beside a controller manager nothing is approved or signed, and everything is when it has gone', async () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
  const spec = { holderIdentity: 'm', leaseDurationSeconds: 3600 };
  const lease = { metadata: { name: 'kube-controller-manager' }, spec };
  expect((await cluster.request('POST', leases, lease)).code).toBe(201);
  await vi.waitFor(async () => {
    expect(await database.query("SELECT holder FROM work_leases WHERE work = 'upkeep'")).toEqual([
      { holder: '' },
    ]);
  }, PATIENCE);
  const node = new JoiningNode('worker-4', output);
  const { name, pair } = await node.certificate(await node.discover());
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect((await cluster.request('GET', `${REQUESTS}/${name}`)).json.status).toEqual({});
  await cluster.request('DELETE', `${leases}/kube-controller-manager`);
  expect(new X509Certificate((await pair).cert).subject).toContain('CN=system:node:worker-4');
});

test('what it prints is what it writes: kubectl takes it, and nodes join by it', async () => {
  const flags = [
    '--token=printe.0123456789abcdef',
    '--token-ttl=1h',
    '--with-kube-proxy',
    '--pod-network-cidr=10.244.0.0/16',
  ];
  const { code, stdout, stderr } = await configure(...flags);
  expect(code, stderr).toBe(0);
  const printed = parseAllDocuments(stdout).map((document) => document.toJS());
  expect(new Set(printed.map(({ kind }) => kind)).size).toBe(6);
  // Files in a config map are printed line by line, as kubectl prints them.
  expect(stdout).toContain('  kubeconfig: |\n    apiVersion: v1\n    kind: Config\n');
  const before = await cluster.request('GET', CLUSTER_INFO);
  const applied = await cluster.kubectl('apply --server-side --force-conflicts -f -', stdout);
  expect(applied.code, applied.stderr).toBe(0);
  expect((await dataOf('kube-public', 'cluster-info')).kubeconfig).toBe(before.json.data.kubeconfig);
  await vi.waitFor(async () => expect(await signatures()).toContain('printe'), PATIENCE);
  await new JoiningNode('p', stderr).discover();
  expect(stderr).toContain('is an address of this machine alone');
});

test('what keeps nodes from joining is said by name', async () => {
  const refusal = async (kubeconfig: string, ...flags: string[]) => {
    const { code, stderr } = await configureWith(kubeconfig, ...flags);
    return `${code} ${stderr.trim().split('\n').at(-1)}`;
  };
  expect(await refusal('/none')).toMatch(/^2 pg-apiserver: there is no \/none: start a server first/);
  expect(await refusal(cluster.kubeconfig, '--token=short')).toMatch(
    /^2 pg-apiserver: --token: a token has 6/,
  );
  expect(await refusal(cluster.kubeconfig, '--control-plane-endpoint=https://a')).toContain(
    '--control-plane-endpoint: "https://a"',
  );
  const empty = await createTestDatabase();
  const deaf = await startCluster(empty.url, FLAGS);
  try {
    expect(await refusal(deaf.kubeconfig, '--apply')).toContain(
      'start it with --enable-bootstrap-token-auth',
    );
  } finally {
    await deaf[Symbol.asyncDispose]();
    await empty.drop();
  }
});
