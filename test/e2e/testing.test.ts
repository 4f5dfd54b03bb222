// @module-tag long
import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import type * as testing from '../../src/testing/start-cluster.ts';
import { onLeash } from '../kit/leash.ts';
import { watchTool } from '../kit/running-tool.ts';
import { kubectlPath, runTool } from '../kit/tools.ts';
import { createTestDatabase } from '../postgres.ts';

/** What programs import, and the fixtures that are printed, each run as it is. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(PROJECT, 'dist', 'main.js');
const MODULE = join(PROJECT, 'dist', 'pg-apiserver-testing.js');

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-fixtures-'));
const bin = join(folder, 'bin');
const env = {
  ...process.env,
  XDG_CACHE_HOME: join(folder, 'cache'),
  PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
};

beforeAll(() => {
  chmodSync(folder, 0o755);
  mkdirSync(bin);
  // `npx --no pg-apiserver …`, in a project that has installed it: `--no` installs nothing of that name from elsewhere.
  for (const [name, before] of [
    ['pg-apiserver', ''],
    ['npx', '[ "$1 $2" = "--no pg-apiserver" ] || exit 99\nshift 2\n'],
  ] as const) {
    const path = join(bin, name);
    writeFileSync(path, `#!/bin/sh\n${before}exec ${process.execPath} ${MAIN} "$@"\n`);
    chmodSync(path, 0o755);
  }
  // The module that is imported starts its servers with the environment of this process, which other files share.
  vi.stubEnv('XDG_CACHE_HOME', env.XDG_CACHE_HOME);
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function startCluster(options?: testing.ClusterOptions): Promise<testing.Cluster> {
  const { startCluster: start }: typeof testing = await import(MODULE);
  return start(options);
}

const fixture = (name: string): string =>
  execFileSync(process.execPath, [MAIN, 'fixture', name], { encoding: 'utf8' });

const kubectlOf = (kubeconfig: string) => (args: string, input?: string) =>
  runTool(kubectlPath(), args.split(' '), {
    ...{ kubeconfig, home: folder },
    ...(input === undefined ? {} : { input }),
  });

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ships.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: ships, kind: Ship }
  versions:
    - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }
    # Lists are asked for as v2, which nothing can make of what is stored.
    - { name: v2, served: true, storage: false, schema: { openAPIV3Schema: { type: object } } }
  conversion:
    strategy: Webhook
    webhook: { conversionReviewVersions: [v1], clientConfig: { url: https://127.0.0.1:1 } }
`;
const GUARD = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: closed }
webhooks:
  - name: closed.example.com
    clientConfig: { url: https://127.0.0.1:1 }
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]
    admissionReviewVersions: [v1]
    sideEffects: None
    timeoutSeconds: 1
`;

/** Names and versions of what there is, without what changes by itself. */
const STATE =
  'get namespaces,clusterroles,configmaps,serviceaccounts,crds,pods,services,validatingwebhookconfigurations -A -o jsonpath={range.items[*]}{.kind}/{.metadata.namespace}/{.metadata.name}:{.metadata.labels}{"\\n"}{end}';

test('a reset puts back what was there, by writes that a watch sees to its end', {
  tags: 'long',
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  const kubectl = kubectlOf(cluster.kubeconfigPath);
  expect(cluster.kubeconfig).toBe(readFileSync(cluster.kubeconfigPath, 'utf8'));
  await cluster.reset();
  const before = (await kubectl(STATE)).stdout;
  expect(before).toContain('Namespace//default:');
  const watch = watchTool(
    onLeash(
      spawn(kubectlPath(), ['get', 'configmaps', '-n', 'shop', '-w', '--output-watch-events'], {
        env: { ...env, KUBECONFIG: cluster.kubeconfigPath, HOME: folder },
      }),
    ),
  );
  for (const command of [
    'create namespace shop',
    'create configmap one -n shop --from-literal=a=b',
    'create deployment web --image=web:1 -n shop',
    'label namespace default changed=yes',
    'delete clusterrole view',
    'create service clusterip kept --tcp=80',
  ])
    expect(await kubectl(command), command).toMatchObject({ code: 0 });
  expect(await kubectl('create -f -', CRD)).toMatchObject({ code: 0 });
  const ship =
    'apiVersion: example.com/v1\nkind: Ship\nmetadata: { name: s, namespace: shop, finalizers: [a.example.com/b] }';
  await expect.poll(async () => (await kubectl('create -f -', ship)).code).toBe(0);
  await watch.says(/ADDED +one/);
  expect(await kubectl('create -f -', GUARD)).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await kubectl('create configmap two')).stderr)
    .toContain('closed.example.com');
  await cluster.reset();
  expect((await kubectl(STATE)).stdout).toBe(before);
  await watch.says(/DELETED +one/);
  expect(watch.process.exitCode).toBe(null);
  watch.process.kill();
  expect(await kubectl('create namespace shop')).toMatchObject({ code: 0 });
  await cluster.reset();
  expect((await kubectl(STATE)).stdout).toBe(before);
});

test('a cluster can be had on a database of the caller, says why it does not start, and goes with its files', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const cluster = await startCluster({ databaseUrl: database.url });
  expect(new URL(cluster.url).hostname).toBe('127.0.0.1');
  const code = await new Promise((resolve, reject) => {
    const asked = request(`${cluster.url}/readyz`, { ca: cluster.ca }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', reject).end();
  });
  expect(code).toBe(200);
  await cluster.stop();
  expect(existsSync(cluster.kubeconfigPath)).toBe(false);
  await expect(startCluster({ databaseUrl: database.url, flags: ['--no-flag'] })).rejects.toThrow(
    /ended before it was ready:\n.*unknown flag --no-flag/,
  );
});

test('a cluster ends with a process that was killed', async () => {
  const program = `
    const { startCluster } = await import(${JSON.stringify(MODULE)});
    const { url } = await startCluster();
    console.log(url);
    setInterval(() => {}, 1000);`;
  const child = watchTool(onLeash(spawn(process.execPath, ['--input-type=module', '-e', program], { env })));
  await child.says(/^https:\S+\n/);
  const url = child.output.trim();
  child.process.kill('SIGKILL');
  const answers = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      (error: unknown) => !JSON.stringify(error, ['cause', 'code']).includes('ECONNREFUSED'),
    );
  await expect.poll(answers).toBe(false);
});

test('the fixture of Vitest runs as it is printed', async () => {
  const project = join(folder, 'vitest');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(PROJECT, join(project, 'node_modules', 'pg-apiserver'));
  symlinkSync(join(PROJECT, 'node_modules', 'vitest'), join(project, 'node_modules', 'vitest'));
  writeFileSync(join(project, 'cluster.ts'), fixture('vitest'));
  writeFileSync(
    join(project, 'own.test.ts'),
    `import { expect, test } from 'vitest';
     import { cluster } from './cluster.ts';
     test('it is there', () => expect(cluster.kubeconfig).toContain(cluster.url));
     test('after a reset', () => expect(cluster.url).toMatch(/^https:/));`,
  );
  const { code, said } = await runIn(project, process.execPath, [
    join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--root',
    project,
  ]);
  expect(code, said).toBe(0);
  expect(said).toMatch(/2 passed/);
});

test('the fixture of pytest runs as it is printed', async (context) => {
  const project = join(folder, 'pytest');
  mkdirSync(project);
  const text = fixture('pytest');
  const hasPytest = (await runIn(project, 'python3', ['-c', 'import pytest'])).code === 0;
  if ((await runIn(project, 'python3', ['-c', '1'])).code !== 0) context.skip('there is no python3');
  writeFileSync(join(project, 'conftest.py'), text);
  const check =
    'assert cluster["url"].startswith("https://127.0.0.1:") and open(cluster["kubeconfig"]).read()';
  writeFileSync(join(project, 'test_own.py'), `def test_own(cluster):\n    ${check}\n`);
  // Without pytest, its one function is replaced, and the fixture is run by hand.
  const byHand = `
import sys, types
sys.modules["pytest"] = types.SimpleNamespace(fixture=lambda **_: lambda made: made)
import conftest
running = conftest.cluster()
cluster = next(running)
${check}
for _ in running: pass
`;
  const args = hasPytest ? ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'] : ['-c', byHand];
  const { code, said } = await runIn(project, 'python3', args);
  expect(code, said).toBe(0);
});

test('the step of a workflow gives the steps after it a cluster and the folder of envtest', {
  tags: 'long',
}, async () => {
  const [step] = parse(fixture('github-actions'));
  const RUNNER_TEMP = join(folder, 'runner');
  mkdirSync(RUNNER_TEMP);
  const GITHUB_ENV = join(folder, 'github-env');
  writeFileSync(GITHUB_ENV, '');
  const { code, said } = await runIn(folder, 'bash', ['-e', '-c', step.run], { RUNNER_TEMP, GITHUB_ENV });
  expect(code, said).toBe(0);
  const { pid } = JSON.parse(readFileSync(join(RUNNER_TEMP, 'ready.json'), 'utf8'));
  try {
    const later = Object.fromEntries(
      readFileSync(GITHUB_ENV, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    );
    expect(existsSync(join(later.KUBEBUILDER_ASSETS, 'kube-apiserver'))).toBe(true);
    expect(await kubectlOf(later.KUBECONFIG)('get namespaces')).toMatchObject({ code: 0 });
  } finally {
    process.kill(pid, 'SIGTERM');
    await expect.poll(() => existsSync(join(RUNNER_TEMP, 'ready.json'))).toBe(false);
  }
});

test('the step of a workflow fails with what the server said, where it does not start', async () => {
  const [step] = parse(fixture('github-actions'));
  const RUNNER_TEMP = join(folder, 'full-runner');
  mkdirSync(RUNNER_TEMP);
  writeFileSync(join(RUNNER_TEMP, 'cluster'), '');
  const GITHUB_ENV = join(folder, 'github-env-of-a-failure');
  const { code, said } = await runIn(folder, 'bash', ['-e', '-c', step.run], { RUNNER_TEMP, GITHUB_ENV });
  expect(code).toBe(1);
  expect(said).toContain(
    `pg-apiserver: --data-dir: ${join(RUNNER_TEMP, 'cluster')}: something else has this name already`,
  );
  expect(readFileSync(GITHUB_ENV, 'utf8')).not.toContain('KUBECONFIG=');
});

test('a fixture that there is not is refused with the names of those that there are', async () => {
  expect(await runIn(folder, process.execPath, [MAIN, 'fixture', 'mocha'])).toMatchObject({
    code: 2,
    said: 'pg-apiserver: fixture: "mocha" must be one of vitest|pytest|github-actions\n',
  });
});

function runIn(
  cwd: string,
  command: string,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(command, [...args], { cwd, env: { ...env, ...more } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: stdout + stderr }),
    );
    onLeash(child);
  });
}
