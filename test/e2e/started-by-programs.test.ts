// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { onLeash } from '../kit/leash.ts';
import { watchTool } from '../kit/running-tool.ts';
import { kubectlPath, runTool } from '../kit/tools.ts';
import { createTestDatabase } from '../postgres.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const START = fileURLToPath(new URL('../../src/cli/start.mjs', import.meta.url));

interface Folder extends Disposable {
  readonly path: string;
  readonly readyFile: string;
  readonly flags: readonly string[];
}

function createFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-started-'));
  chmodSync(path, 0o755);
  const readyFile = join(path, 'ready.json');
  return {
    path,
    readyFile,
    flags: ['--secure-port=0', `--data-dir=${join(path, 'data')}`, `--ready-file=${readyFile}`],
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

const readReady = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A child that a shell has not waited for yet has ended.
    return !/^\S+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** The parent is a shell, which waits for the command. */
const underShell = (command: readonly string[], cwd: string) =>
  watchTool(onLeash(spawn('/bin/sh', ['-c', '"$@" & wait', 'parent', ...command], { cwd })));

test('the ready file names the ports that 0 left open, and is there only while the server serves', async () => {
  using folder = createFolder();
  writeFileSync(folder.readyFile, '{"url":"of an earlier run"}');
  const server = watchTool(
    onLeash(spawn(process.execPath, [MAIN, 'start', ...folder.flags], { cwd: folder.path })),
  );
  await server.says('PostgreSQL is running');
  expect(existsSync(folder.readyFile)).toBe(false);
  await expect.poll(() => existsSync(folder.readyFile)).toBe(true);
  const ready = readReady(folder.readyFile);
  const data = join(folder.path, 'data');
  expect(ready).toEqual({
    url: `https://127.0.0.1:${ready.ports.secure}`,
    kubeconfig: join(data, 'admin.kubeconfig'),
    ca: join(data, 'certificates', 'ca.crt'),
    pid: server.process.pid,
    ports: { secure: expect.any(Number), postgres: expect.any(Number) },
  });
  expect(await answers(ready.ports.postgres)).toBe(true);
  const tool = { kubeconfig: ready.kubeconfig, home: folder.path };
  const published = ['get', 'endpoints', 'kubernetes', '-o', 'jsonpath={.subsets[0].ports[0].port}'];
  await expect
    .poll(async () => (await runTool(kubectlPath(), published, tool)).stdout)
    .toBe(String(ready.ports.secure));
  server.process.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(existsSync(folder.readyFile)).toBe(false);
});

test('a ready file that cannot be written ends the start with the name of the flag', async () => {
  using folder = createFolder();
  await using database = await createTestDatabase();
  const path = join(folder.path, 'none', 'ready.json');
  const flags = [
    '--bind-address=127.0.0.1',
    ...folder.flags.slice(0, 2),
    `--ready-file=${path}`,
    `--kvstore-servers=${database.url}`,
  ];
  const server = watchTool(onLeash(spawn(process.execPath, [MAIN, ...flags], { cwd: folder.path })));
  expect(await server.ended).toBe(1);
  expect(server.output).toMatch(
    /^pg-apiserver: --ready-file: .*none\/ready\.json\S*: there is no such file/m,
  );
});

test.runIf(process.platform === 'linux')(
  'a server serves on where there is no room for what it says',
  async () => {
    using folder = createFolder();
    await using database = await createTestDatabase();
    const flags = ['--bind-address=127.0.0.1', ...folder.flags, `--kvstore-servers=${database.url}`, '--v=6'];
    const command = ['exec "$@" >/dev/full 2>/dev/full', 'sh', process.execPath, MAIN, 'start', ...flags];
    const server = watchTool(onLeash(spawn('/bin/sh', ['-c', ...command], { cwd: folder.path })));
    await expect.poll(() => existsSync(folder.readyFile)).toBe(true);
    const tool = { kubeconfig: readReady(folder.readyFile).kubeconfig, home: folder.path };
    for (let turn = 0; turn < 3; turn += 1)
      expect(
        (await runTool(kubectlPath(), ['get', 'namespaces', 'default', '-o', 'name'], tool)).stdout,
      ).toBe('namespace/default\n');
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  },
);

test('a folder that cannot be made, and a port that another program has, end the start before anything is made', async () => {
  using folder = createFolder();
  const data = join(folder.path, 'data');
  const start = async (...flags: string[]): Promise<string> => {
    const server = watchTool(
      onLeash(spawn(process.execPath, [MAIN, '--bind-address=127.0.0.1', ...flags], { cwd: folder.path })),
    );
    expect(await server.ended).toBe(1);
    return server.output;
  };
  if (existsSync('/proc/self'))
    expect(await start('--secure-port=0', '--data-dir=/proc/some/data')).toBe(
      'pg-apiserver: --data-dir: /proc/some: no folder can be made in /proc: name another one\n',
    );
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  expect(await start(`--secure-port=${port}`, `--data-dir=${data}`)).toBe(
    `pg-apiserver: --secure-port, --bind-address: 127.0.0.1:${port}: another program has this port: stop it, or choose another port\n`,
  );
  holder.close();
  expect(readdirSync(data)).toEqual([]);
});

test('a server started with --exit-with-parent ends in order when its parent is killed, and another serves on', async () => {
  using folder = createFolder();
  using other = createFolder();
  await using database = await createTestDatabase();
  const stored = ['--bind-address=127.0.0.1', `--kvstore-servers=${database.url}`];
  const parent = underShell(
    [process.execPath, MAIN, ...folder.flags, ...stored, '--exit-with-parent'],
    folder.path,
  );
  const without = underShell([process.execPath, MAIN, ...other.flags, ...stored], other.path);
  await expect.poll(() => existsSync(folder.readyFile) && existsSync(other.readyFile)).toBe(true);
  const { pid } = readReady(folder.readyFile);
  const { pid: otherPid } = readReady(other.readyFile);
  try {
    parent.process.kill('SIGKILL');
    without.process.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(existsSync(folder.readyFile)).toBe(false);
    expect(isAlive(otherPid)).toBe(true);
  } finally {
    if (isAlive(otherPid)) process.kill(otherPid, 'SIGKILL');
  }
});

test('what npm start runs passes the end of its parent on', async () => {
  using folder = createFolder();
  await using database = await createTestDatabase();
  const command = [process.execPath, START, ...folder.flags, `--kvstore-servers=${database.url}`];
  const parent = underShell([...command, '--exit-with-parent'], folder.path);
  await expect.poll(() => existsSync(folder.readyFile)).toBe(true);
  const { pid } = readReady(folder.readyFile);
  parent.process.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
});
