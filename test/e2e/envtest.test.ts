// @module-tag long
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { Agent, request, get as secureGet } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { onLeash } from '../kit/leash.ts';
import { Authority, type Pair } from '../kit/pki.ts';
import { kubectlPath, runTool } from '../kit/tools.ts';

/**
 * The protocol of controller-runtime's envtest (pkg/internal/testing/controlplane, process), step by step: its flags, its questions,
 * its certificates, its polling, its signals.
 */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const POLL_MS = 100;
const TIMEOUT_MS = 90_000;

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-envtest-'));
const assets = join(folder, 'assets');
/** With a server that waits for the next suite. */
const readyAssets = join(folder, 'ready-assets');
const cache = join(folder, 'cache');
const bin = join(folder, 'bin');
const env = { ...process.env, XDG_CACHE_HOME: cache, PATH: `${bin}:/usr/bin:/bin` };

beforeAll(() => {
  chmodSync(folder, 0o755);
  mkdirSync(bin);
  symlinkSync(kubectlPath(), join(bin, 'kubectl'));
  const args = [MAIN, 'envtest', `--dir=${assets}`, '--keep-ready=0s'];
  const said = execFileSync(process.execPath, args, { env, encoding: 'utf8' });
  expect(said).toContain(`export KUBEBUILDER_ASSETS=${assets}\n`);
});

afterAll(async () => {
  const spares = readdirSync(join(cache, 'pg-apiserver')).flatMap(
    (name) => /\.spare-(\d+)$/.exec(name)?.[1] ?? [],
  );
  rmSync(folder, { recursive: true, force: true });
  // A server that waits ends with its folder.
  for (const pid of spares)
    await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'), 60_000);
});

/** process.State */
class Program {
  readonly dir = mkdtempSync(join(tmpdir(), 'k8s_test_framework_'));
  readonly #path: string;
  readonly #isHealthy: () => Promise<boolean>;
  #child: ChildProcess | undefined;
  output = '';

  constructor(path: string, isHealthy: () => Promise<boolean>) {
    this.#path = path;
    this.#isHealthy = isHealthy;
  }

  /** Of proc(5), in ticks of 10 ms. */
  get cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#child?.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  hasFlag(flag: string): boolean {
    const help = execFileSync(this.#path, ['--help'], { env, encoding: 'utf8' });
    return new RegExp(`^\\s*--${flag}\\b`, 'm').test(help);
  }

  async start(args: readonly string[]): Promise<void> {
    // In a process group of its own, as SysProcAttr.Setpgid makes it.
    const child = onLeash(spawn(this.#path, [...args], { env, detached: true }));
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    const deadline = Date.now() + TIMEOUT_MS;
    while (!(await this.#isHealthy())) {
      if (child.exitCode !== null) throw new Error(`${this.#path} ended: ${this.output}`);
      if (Date.now() > deadline) throw new Error(`${this.#path} is not healthy: ${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** The whole group gets the signal; the folder goes when the process has ended. Answers the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    if (child?.pid === undefined) throw new Error('it was not started');
    if (child.exitCode !== null) return child.exitCode;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGTERM');
    const code = await ended;
    rmSync(this.dir, { recursive: true, force: true });
    return code;
  }
}

const statusOf = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const send = url.startsWith('https:') ? secureGet : get;
    const asked = send(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
  });

interface Suite extends AsyncDisposable {
  readonly ports: Ports;
  readonly kubeconfig: string;
  readonly dirs: readonly string[];
  readonly apiserver: Program;
  readonly etcdUrl: string;
  send(method: string, path: string, body?: object): Promise<{ code: number; text: string }>;
  stop(): Promise<readonly (number | null)[]>;
}

interface Ports {
  readonly etcd: number;
  readonly apiserver: number;
}

/**
 * controlplane.ControlPlane: etcd, then kube-apiserver, then a user by certificate, whom envtest lets read the default namespace.
 * `ports`: a control plane that is started again has those of its first start.
 */
async function startSuite(extra: readonly string[] = [], of = assets, given?: Ports): Promise<Suite> {
  const ports = given ?? { etcd: await freePort(), apiserver: await freePort() };
  const { apiserver: port } = ports;
  const etcdUrl = `http://127.0.0.1:${ports.etcd}`;
  const etcd = new Program(join(of, 'etcd'), () => statusOf(`${etcdUrl}/health`));
  await etcd.start([
    `--advertise-client-urls=${etcdUrl}`,
    `--data-dir=${etcd.dir}`,
    `--listen-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${await freePort()}`,
    ...(etcd.hasFlag('unsafe-no-fsync') ? ['--unsafe-no-fsync=true'] : []),
  ]);
  const apiserver = new Program(join(of, 'kube-apiserver'), () =>
    statusOf(`https://127.0.0.1:${port}/healthz`),
  );
  const servers = await Authority.create('envtest-environment');
  const clients = await Authority.create('envtest-environment');
  const write = (name: string, text: string): string => {
    const path = join(apiserver.dir, name);
    writeFileSync(path, text, { mode: 0o640 });
    return path;
  };
  const { cert, key } = await servers.issue({ subject: 'CN=localhost, O=envtest', serves: true });
  write('apiserver.crt', cert);
  write('apiserver.key', key);
  const signer = await servers.issue({ subject: 'CN=envtest-environment, O=envtest' });
  expect(apiserver.hasFlag('insecure-port')).toBe(false);
  expect(apiserver.hasFlag('secure-port')).toBe(true);
  await apiserver.start([
    '--allow-privileged=true',
    '--authorization-mode=RBAC',
    '--bind-address=127.0.0.1',
    `--cert-dir=${apiserver.dir}`,
    `--client-ca-file=${write('client-cert-auth-ca.crt', clients.pem)}`,
    '--disable-admission-plugins=ServiceAccount',
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${write('sa-signer.crt', signer.cert)}`,
    `--service-account-signing-key-file=${write('sa-signer.key', signer.key)}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    ...extra,
  ]);
  const admin = await clients.issue({ subject: 'CN=admin, O=system:masters' });
  const agent = new Agent({ ca: servers.pem, cert: admin.cert, key: admin.key, keepAlive: true });
  const stop = async (): Promise<readonly (number | null)[]> => {
    agent.destroy();
    return [await apiserver.stop(), await etcd.stop()];
  };
  expect((await send(agent, port, { method: 'GET', path: '/api/v1/namespaces/default' })).code).toBe(200);
  return {
    ports,
    kubeconfig: write('1.kubecfg', kubeconfigOf(port, servers.pem, admin)),
    dirs: [apiserver.dir, etcd.dir],
    ...{ apiserver, etcdUrl },
    send: (method, path, body) => send(agent, port, { method, path, body }),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfigOf = (port: number, ca: string, { cert, key }: Pair): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'envtest' },
    clusters: [
      {
        name: 'envtest',
        cluster: { server: `https://127.0.0.1:${port}/`, 'certificate-authority-data': base64(ca) },
      },
    ],
    users: [
      { name: 'envtest', user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } },
    ],
    contexts: [{ name: 'envtest', context: { cluster: 'envtest', user: 'envtest' } }],
  });

function send(
  agent: Agent,
  port: number,
  { method, path, body }: { method: string; path: string; body?: object | undefined },
): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ code: response.statusCode ?? 0, text }));
    });
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'frigates.ships.example.com' },
  spec: {
    group: 'ships.example.com',
    scope: 'Namespaced',
    names: { plural: 'frigates', singular: 'frigate', kind: 'Frigate', listKind: 'FrigateList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

test('a suite starts, installs definitions, and stops in order, and namespaces and dependents go', async () => {
  await using suite = await startSuite();
  const { send: ask } = suite;
  expect((await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)).code).toBe(201);
  await expect.poll(async () => (await ask('GET', '/apis/ships.example.com/v1')).code).toBe(200);
  const namespace = { metadata: { generateName: 'suite-' } };
  const made = await ask('POST', '/api/v1/namespaces', namespace);
  expect(made.code).toBe(201);
  const { name } = JSON.parse(made.text).metadata;
  const inside = `/api/v1/namespaces/${name}`;
  const owner = JSON.parse((await ask('POST', `${inside}/configmaps`, { metadata: { name: 'owner' } })).text);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
  const frigates = `/apis/ships.example.com/v1/namespaces/${name}/frigates`;
  const frigate = {
    ...{ apiVersion: 'ships.example.com/v1', kind: 'Frigate' },
    metadata: { name: 'owned', ownerReferences },
  };
  await expect.poll(async () => (await ask('POST', frigates, frigate)).code).toBe(201);
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await ask('POST', `${inside}/pods`, pod)).code).toBe(201);
  expect((await ask('DELETE', `${inside}/configmaps/owner`)).code).toBe(200);
  await expect.poll(async () => (await ask('GET', `${frigates}/owned`)).code).toBe(404);
  expect((await ask('DELETE', inside)).code).toBe(200);
  await expect.poll(async () => (await ask('GET', inside)).code).toBe(404);

  // Suites make the service account that a controller manager would, and count what is there.
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  expect(await ask('POST', accounts, { metadata: { name: 'default' } })).toMatchObject({ code: 201 });
  expect(await ask('POST', `${accounts}/default/token`, {})).toMatchObject({ code: 201 });
  const namesOf = async (path: string): Promise<string[]> =>
    JSON.parse((await ask('GET', path)).text).items.map(
      ({ metadata }: { metadata: { namespace: string; name: string } }) =>
        `${metadata.namespace}/${metadata.name}`,
    );
  expect(await namesOf('/api/v1/serviceaccounts')).toEqual(['default/default']);
  expect((await namesOf('/api/v1/configmaps')).filter((one) => !one.startsWith('kube-system/'))).toEqual([]);
  const listed = await runTool(join(assets, 'kubectl'), ['get', 'namespaces', '-o', 'name'], {
    kubeconfig: suite.kubeconfig,
    home: folder,
  });
  expect(listed, listed.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('namespace/default'),
  });
});

test('a suite that is stopped leaves nothing behind, and the next one begins anew', async () => {
  const first = await startSuite([
    '--audit-log-path=-',
    '--etcd-prefix=/suite',
    '--insecure-port=0',
    '--v',
    '2',
  ]);
  expect((await first.send('POST', '/api/v1/namespaces', { metadata: { name: 'left' } })).code).toBe(201);
  expect(await first.stop()).toEqual([0, 0]);
  expect(first.dirs.filter((dir) => existsSync(dir))).toEqual([]);
  await using second = await startSuite([], assets, first.ports);
  expect((await second.send('GET', '/api/v1/namespaces/left')).code).toBe(404);
});

test('two suites at once have a cluster each', async () => {
  const [first, second] = await Promise.all([startSuite(), startSuite()]);
  await using _first = first;
  await using _second = second;
  expect((await first.send('POST', '/api/v1/namespaces', { metadata: { name: 'one' } })).code).toBe(201);
  expect((await second.send('GET', '/api/v1/namespaces/one')).code).toBe(404);
});

/** What it says before it ends with a failure. */
function run(program: string, ...args: string[]): string {
  try {
    execFileSync(join(assets, program), args, { env, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    return error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  }
  return '';
}

test('a kube-apiserver without an etcd of its folder, and an etcd without its port, end with a line that says what to do', async () => {
  const etcd = 'http://127.0.0.1:1';
  expect(run('kube-apiserver', `--etcd-servers=${etcd}`)).toBe(
    `pg-apiserver: --etcd-servers: at ${etcd} is no etcd of pg-apiserver envtest of this user: start the one of the same folder first\n`,
  );
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const dir = join(folder, 'not-made');
  expect(run('etcd', `--listen-client-urls=http://127.0.0.1:${port}`, `--data-dir=${dir}`)).toBe(
    `pg-apiserver: --listen-client-urls: 127.0.0.1:${port}: another program has this port: stop it, or choose another port\n`,
  );
  taken.close();
  expect(readdirSync(dir)).toEqual([]);
  expect(run('kube-apiserver', '--insecure-port=8080')).toMatch(
    /^pg-apiserver: --insecure-port: .* leave it out\n$/,
  );
});

const sparesIn = (cached: string): readonly string[] =>
  readdirSync(join(cached, 'pg-apiserver')).filter((name) => name.includes('.spare-'));

const isReady = (spare: string): boolean => existsSync(join(cache, 'pg-apiserver', spare, 'socket'));

test('a server waits for the next suite, serves it as one of its own would, and another one waits then', async () => {
  execFileSync(process.execPath, [MAIN, 'envtest', `--dir=${readyAssets}`], { env });
  await expect.poll(() => sparesIn(cache).some(isReady), { timeout: TIMEOUT_MS }).toBe(true);
  const [first = ''] = sparesIn(cache);
  {
    await using suite = await startSuite([], readyAssets);
    // What is loaded and compiled there takes three times as long.
    expect(suite.apiserver.cpuMs).toBeLessThan(600);
    const made = await suite.send('POST', '/api/v1/namespaces', { metadata: { name: 'left' } });
    expect(made.code).toBe(201);
    expect(suite.apiserver.output).toContain(`serving on https://127.0.0.1:${suite.ports.apiserver}`);
    await expect
      .poll(() => sparesIn(cache).some((name) => name !== first && isReady(name)), {
        timeout: TIMEOUT_MS,
      })
      .toBe(true);
  }
  await expect.poll(() => sparesIn(cache), { timeout: TIMEOUT_MS }).not.toContain(first);
  await using next = await startSuite([], readyAssets);
  expect(next.apiserver.cpuMs).toBeLessThan(600);
  expect((await next.send('GET', '/api/v1/namespaces/left')).code).toBe(404);
  expect(await next.apiserver.stop()).toBe(0);
  expect(run('kube-apiserver', `--etcd-servers=${next.etcdUrl}`, '--insecure-port=8080')).toMatch(
    /^pg-apiserver: --insecure-port: .* leave it out\n$/,
  );
});

test('without kubectl on PATH the folder has one that says what to do', () => {
  const dir = join(folder, 'without');
  const without = { ...env, PATH: dir };
  const said = execFileSync(process.execPath, [MAIN, 'envtest', `--dir=${dir}`, '--keep-ready=0s'], {
    env: without,
    encoding: 'utf8',
  });
  expect(said).toContain('there is no kubectl on PATH');
  expect(readFileSync(join(dir, 'kubectl'), 'utf8')).toContain('install it, and make the folder again');
});
