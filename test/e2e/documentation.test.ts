// @module-tag long
import { execFile, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { usualFlags } from '../../src/cli/usual-flags.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { onLeash } from '../kit/leash.ts';
import { blocksOf, commandsOf, HISTORY, OPERATORS, PAGES, type Page, withMoment } from '../kit/pages.ts';
import { TestRoles } from '../kit/roles.ts';
import { rollOut } from '../kit/roll-out.ts';
import { watchTool } from '../kit/running-tool.ts';
import { helmPath, kubectlPath, type ToolResult } from '../kit/tools.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Each command of the pages for users, run by a shell in a folder that has what is built, on a real server. */
const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const URL_OF_PAGES = 'postgres://user:password@host:5432/database';
const URL_OF_MOVED = 'postgres://user:password@other:5432/events';
const AS_MASTER = '--as-group=system:masters';

/** What goes on until Ctrl-C, and what it says by then. */
const ENDLESS: readonly (readonly [RegExp, string | RegExp])[] = [
  [/^kubectl history log .* -f$/, 'created by'],
  [/^kubectl history console --no-open$/, /^http:\/\/127\.0\.0\.1:\d+\/.*console\/$/m],
];

const SERVES = /^(npm start|(?:node dist\/main\.js|pg-apiserver)(?= --))/;

/** diff says so that it has found something. */
const codeOf = (command: string): number => (command.startsWith('kubectl history diff') ? 1 : 0);

/** A terminal in which the commands of one page are typed. */
class Reader implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-page-'));
  readonly #database: TestDatabase;
  readonly #servers: Cluster[] = [];
  /** export lines so far. */
  #prelude = '';

  constructor(database: TestDatabase) {
    this.#database = database;
    const bin = join(this.folder, 'bin');
    mkdirSync(bin);
    symlinkSync(DIST, join(this.folder, 'dist'));
    symlinkSync(kubectlPath(), join(bin, 'kubectl'));
    symlinkSync(helmPath(), join(bin, 'helm'));
    copyFileSync(join(DIST, 'kubectl-history.js'), join(bin, 'kubectl-history'));
    writeFileSync(join(bin, 'pg-apiserver'), `#!/bin/sh\nexec node '${join(DIST, 'main.js')}' "$@"\n`);
    for (const name of ['kubectl-history', 'pg-apiserver']) chmodSync(join(bin, name), 0o755);
  }

  /** The first server that was started. */
  get cluster(): Cluster {
    const [first] = this.#servers;
    if (first === undefined) throw new Error('the page has started no server yet');
    return first;
  }

  async start(flags: readonly string[]): Promise<void> {
    const cluster = await startCluster(this.#database.url, flags);
    if (this.#servers.push(cluster) === 1) symlinkSync(cluster.folder, join(this.folder, '.pg-apiserver'));
  }

  async follow(command: string): Promise<ToolResult> {
    if (command.startsWith('export ')) this.#prelude += `${command}\n`;
    const [serves] = SERVES.exec(command) ?? [];
    if (serves !== undefined) {
      await this.start(this.#flagsOf(serves, command.slice(serves.length)));
      return { code: 0, stdout: '', stderr: '' };
    }
    const [, says] = ENDLESS.find(([shape]) => shape.test(command)) ?? [];
    return says === undefined
      ? this.run(command.replace(URL_OF_PAGES, this.#database.url))
      : this.#interrupt(command, says);
  }

  /** The database is the test's. */
  #flagsOf(program: string, words: string): string[] {
    const given = words
      .split(' ')
      .filter((word) => word !== '' && word !== '--' && !word.startsWith('--kvstore-servers='));
    return program === 'npm start' ? [...given, ...usualFlags(given)] : given;
  }

  run(command: string): Promise<ToolResult> {
    return new Promise((resolve) => {
      const child = execFile(
        '/bin/sh',
        ['-c', this.#prelude + command],
        this.#options(),
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
      onLeash(child);
    });
  }

  async #interrupt(command: string, says: string | RegExp): Promise<ToolResult> {
    const tool = watchTool(
      onLeash(spawn('/bin/sh', ['-c', `${this.#prelude}exec ${command}`], this.#options())),
    );
    await tool.says(says);
    tool.process.kill('SIGINT');
    expect(await tool.ended, command).toBe(130);
    return { code: 0, stdout: tool.output, stderr: '' };
  }

  #options() {
    const path = [join(this.folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
    const KUBECONFIG = this.#servers[0]?.kubeconfig ?? '';
    return { cwd: this.folder, env: { PATH: path, HOME: this.folder, TZ: 'UTC', KUBECONFIG } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function expectDone(reader: Reader, command: string): Promise<string> {
  const result = await reader.follow(command);
  expect(result, `${command}\n${result.stderr}`).toMatchObject({ code: codeOf(command) });
  return result.stdout;
}

/** Puts into the cluster what the command is about. Answers the command as it is for this cluster. */
async function prepare(reader: Reader, command: string): Promise<string> {
  if (/ deploy\/web\b/.test(command)) await changeImage(reader, 'default');
  if (command.includes(' pod/')) {
    const pod = await rollOut(reader.cluster, 'web', 'default');
    return command.replace(/(?<=pod\/)\S+/, pod);
  }
  if (command.includes('restore namespace/shop')) {
    await changeImage(reader, 'shop');
    await expectDone(reader, 'kubectl delete namespace shop');
  }
  if (command.includes('secrets'))
    await expectDone(reader, 'kubectl create secret generic kept --from-literal=a=b');
  const now = new Date().toISOString();
  return withMoment(command, now).replaceAll("'10 min ago'", now);
}

let changes = 0;

/** A Deployment that was changed, made where it is not there. */
async function changeImage(reader: Reader, namespace: string): Promise<void> {
  await reader.run(`kubectl create namespace ${namespace}`);
  await reader.run(`kubectl create deployment web -n ${namespace} --image=web:1`);
  changes += 1;
  await expectDone(reader, `kubectl set image deployment/web -n ${namespace} *=web:${changes}`);
}

async function followPage(reader: Reader, page: Page): Promise<string[]> {
  const commands = commandsOf(page);
  expect(commands.length).toBeGreaterThan(3);
  const said: string[] = [];
  for (const command of commands) said.push(await expectDone(reader, await prepare(reader, command)));
  return said;
}

test('a newcomer can type what README says, from its top to its end', async () => {
  await using database = await createTestDatabase();
  await using reader = new Reader(database);
  const said = await followPage(reader, 'README.md');
  const log = commandsOf('README.md').findIndex((command) =>
    command.includes('kubectl-history.js log deploy/web'),
  );
  expect(said[log]).toContain('created by kubernetes-admin via kubectl-create');
});

test('each command of the page of history does what it says', async () => {
  await using database = await createTestDatabase();
  await using reader = new Reader(database);
  await reader.start(usualFlags([]));
  const said = await followPage(reader, HISTORY);
  const saidOf = (words: string): string | undefined =>
    said[commandsOf(HISTORY).findIndex((command) => command.includes(words))];
  expect(saidOf('why pod/')).toMatch(/^pod\/\S+ in default: because kubernetes-admin /);
  expect(saidOf('restore namespace/shop')).toContain('deployment.apps/web in shop created (revision ');
  expect(saidOf('explain restore')).toContain('history.cluster.io');
});

test('the incident of the page of history is printed as it is there', async () => {
  await using database = await createTestDatabase();
  await using reader = new Reader(database);
  await reader.start(usualFlags([]));
  for (const command of [
    'kubectl create namespace shop',
    `kubectl create deployment web -n shop --image=web:1.4.2 --as=ann@example.com ${AS_MASTER}`,
    `kubectl set image deployment/web -n shop web=web:1.4.3 --as=bob@example.com ${AS_MASTER}`,
  ])
    await expectDone(reader, command);
  await rollOut(reader.cluster, 'web', 'shop');
  const sessions = PAGES.flatMap(blocksOf).filter(({ language }) => language === 'console');
  expect(sessions.length).toBeGreaterThan(0);
  for (const { text } of sessions)
    for (const step of text.split(/^\$ /m).slice(1)) {
      const [command = '', shown = ''] = step.split(/\n([\s\S]*)/);
      expect(await expectDone(reader, command)).toMatch(printed(shown));
    }
});

/** What differs from run to run may differ: moments, numbers of revisions, and what … leaves out. */
function printed(shown: string): RegExp {
  const text = shown.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '[\\d-]+ [\\d:]+')
    .replaceAll(/\b\d+[smh] ago/g, '\\w+ ago')
    .replaceAll(/^( +)\d+(?= )/gm, '$1\\d+')
    .replaceAll(/(?<=revision )\d+/g, '\\d+')
    .replaceAll(/^ *…\n/gm, '(?:.*\\n)*?')
    .replaceAll(/\w+-…/g, '[\\w-]+');
  return new RegExp(`^${lines}$`);
}

test('each command of the page for operators works on a database', async () => {
  await using database = await createTestDatabase();
  await using moved = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  await using reader = new Reader(database);
  const commands = commandsOf(OPERATORS).map((command) =>
    command.replace('--roles=kube', `--roles=${roles.prefix}`),
  );
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    // Migrations go forward only: each command has a database that has none yet.
    await using fresh = await createTestDatabase({ empty: true });
    const { url } = command.startsWith('pg-apiserver migrate') ? fresh : database;
    const named = command.replace(URL_OF_PAGES, url).replace(URL_OF_MOVED, moved.url);
    const given = await prepare(reader, named);
    expect(given).not.toMatch(/host:5432|other:5432/);
    await expectDone(reader, given);
  }
  const epochs = await database.query("SELECT FROM epochs WHERE reason LIKE 'restored the backup%'");
  expect(epochs).toHaveLength(1);
});
