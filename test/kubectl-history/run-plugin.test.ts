import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { COMMANDS } from '../../src/kubectl-history/commands/all-commands.ts';
import {
  type Call,
  createFakeCluster,
  type FakeAnswer,
  type FakeCluster,
  type Outcome,
  type RunOptions,
} from './fake-kubectl.ts';
import { ANSWERS, badImage, created, HISTORY, planned, settingsDeleted, status } from './incident.ts';

let cluster: FakeCluster;

beforeAll(() => {
  cluster = createFakeCluster();
});

afterAll(() => cluster[Symbol.dispose]());

beforeEach(() => {
  cluster.answers = { ...ANSWERS };
});

const run = (line: string, options?: RunOptions): Promise<Outcome> =>
  cluster.run(
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    options,
  );

function isRunning(call: Call | undefined): boolean {
  try {
    return process.kill(call?.pid ?? 0, 0);
  } catch {
    return false;
  }
}

const WEB = 'object.resource=deployments.apps,object.namespace=shop,object.name=web';
const restored = ({ calls }: Outcome): object[] =>
  calls
    .filter(({ args }) => args.includes('create'))
    .map(({ args, input }) => ({ path: args[args.indexOf('--raw') + 1], ...JSON.parse(input).spec }));

test('flags that lead kubectl to the server are passed to each of its calls', async () => {
  const { calls, code } = await run(
    'log deploy/web --context=other --as alice --request-timeout 5s --kubeconfig=/k -n shop',
  );
  expect(code).toBe(0);
  expect(calls.length).toBeGreaterThan(0);
  for (const { args } of calls) {
    expect(args).toEqual(
      expect.arrayContaining(['--context=other', '--as=alice', '--request-timeout=5s', '--kubeconfig=/k']),
    );
  }
});

test('discovery is kept, and asked again for a word that it did not have', async () => {
  const asked = ({ calls }: Outcome): number =>
    calls.filter(({ args }) => args.includes('api-resources')).length;
  await run('log deploy/web');
  expect(asked(await run('log deploy/web'))).toBe(0);
  const unknown = await run('log deplo/web');
  expect(asked(unknown)).toBe(1);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no resource type "deplo"; did you mean deploy?'),
  });
  expect(asked(await run('log deploy/web --server=https://other'))).toBe(1);
});

test('resources have many words, and those of Kubernetes come before others of the same name', async () => {
  for (const words of [
    'deploy/web',
    'deployment/web',
    'Deployment web',
    'deployments.apps/web',
    'deployments.v1.apps web',
  ]) {
    expect((await run(`log ${words} -o name`)).stdout).toContain('revision.history.cluster.io/4712\n');
  }
});

test.each([
  ['lgo', 'there is no command "lgo"; did you mean log?'],
  ['log --sicne 1h', 'there is no flag --sicne; did you mean --since?'],
  ['log -x', 'there is no flag -x'],
  [
    'log -l app=web',
    'there is no flag -l; there are no selectors: name a type or an object, as in deploy/web',
  ],
  [
    'undo --filename=x',
    'there is no flag --filename; objects are named, as in deploy/web, and not read from files',
  ],
  ['undo deploy/web --to-revision=3', 'there is no flag --to-revision; it is --to'],
  [
    'undo deploy/web --dry-run=x',
    '--dry-run: "x" is neither true nor false, nor one of server, client, none',
  ],
  ['log gizmo/web', 'the server has no resource type "gizmo"; kubectl api-resources lists them'],
  ['log --since', '--since needs a value: a moment'],
  ['log --since soon', '--since: "soon" is no moment'],
  ['log --limit 0', '--limit: "0" is no whole number of 1 or more'],
  ['log --verb patch', '--verb: "patch" is none of create, update, delete'],
  ['log -A=maybe', '-A: "maybe" is neither true nor false'],
  ['log -o table', '-o: log knows no "table"; it takes json, yaml, wide, name'],
  ['log -f --until 1h', '--until and --follow'],
  ['log deploy/web --related -f', '--related takes no --follow'],
  ['log deploy --related', '--related needs one object, or a namespace'],
  ['log deploy/web deploy/api', 'one object at a time: "deploy/api" is too many'],
  ['blame', 'blame needs an object: kubectl history blame deploy/web'],
  ['blame deploy', 'blame needs the name of one of the deployments'],
  ['blame deploy/', 'is no name of an object'],
  ['blame deploy/web --since 1h', 'blame has no flag --since; it takes --path'],
  ['diff deploy/web --to 4712', '--to needs --from'],
  ['diff deploy/web --revision 4709', '--revision: 4709 is no revision of deployment.apps/web in shop'],
  ['why deploy/web --revision 4719', '--revision: 4719 is no revision of deployment.apps/web in shop'],
  ['diff deploy/web --revision x', '--revision: "x" is no number of a revision'],
  ['why deploy/web --revision 1 --from 3', 'why has no flag --from'],
  ['restore deploy/web', '--at is missing: deployment.apps/web in shop was not deleted'],
  ['console --port 70000', '--port: 70000 is no port'],
  ['completion csh', 'completion needs one of bash, zsh, fish, kubectl, not "csh"'],
])('%s: a wrong command line is named, with what is right, and ends with 2', async (line, message) => {
  const { code, stdout, stderr } = await run(line);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/See 'kubectl history help/);
});

test('what the server refuses is said in its words, and ends with 1, or with 2 for diff', async () => {
  expect(await run('show deploy/web --at 12')).toMatchObject({
    code: 1,
    stderr: 'error: --at: history is kept from revision 4000 (2026-11-21T00:00:00.000Z)\n',
  });
  expect(await run('diff deploy/web --from 12 --to 4712')).toMatchObject({ code: 2 });
  expect(await run('diff deploy/web --from 4712')).toMatchObject({ code: 0, stdout: '' });
  expect(await run('show deploy/web --at 4699')).toMatchObject({
    code: 1,
    stderr: 'error: deployments.apps "web" was not there in namespace shop at revision 4699\n',
  });
  const refuse = (path: string, reason: string, message: string): void => {
    cluster.answers[path] = { reason, message };
  };
  refuse(`${HISTORY}/revisions/3/why`, 'Expired', 'name: history is kept from revision 4000');
  expect((await run('why deploy/web --revision 3')).stderr).toBe(
    'error: --revision: history is kept from revision 4000\n',
  );
  const path = '/apis/apps/v1/namespaces/shop/deployments?asOf=9999';
  refuse(path, 'Timeout', 'Timeout: Too large resource version: 9999, current: 4720');
  expect((await run('show deploy --at 9999')).stderr).toBe(
    'error: revision 9999 is not there yet: the newest is 4720\n',
  );
});

test('a server without history, and one that is not there, are said in words', async () => {
  cluster.answers = {};
  expect(await run('who -A')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('https://127.0.0.1:6443 keeps no history: it is no pg-apiserver'),
  });
  expect(await run('console --no-open')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no console'),
  });
  const refused =
    'The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?';
  cluster.answers = {
    [`${HISTORY}/revisions?limit=500`]: { stderr: `E1122 14:00:00.0 memcache.go:265] x\n${refused}` },
  };
  expect(await run('who -A')).toMatchObject({ code: 1, stderr: `error: ${refused}\n` });
  expect(await run('who -A', { env: { PATH: '/nowhere' } })).toMatchObject({
    code: 1,
    stderr: 'error: kubectl is not there: put it into a folder of PATH\n',
  });
});

describe('where history has nothing to tell', () => {
  const CM = 'object.resource=configmaps,object.namespace=shop,object.name=';
  const NOPE = `${CM}nope`;
  const path = '/api/v1/namespaces/shop/configmaps/nope';
  const since = 'History is kept from revision 4000 on (2026-11-21 00:00:00, 38h ago).';

  beforeEach(() => {
    vi.stubEnv('TZ', 'UTC');
    const none = { body: { items: [] } };
    for (const limit of [1, 100, 500]) {
      cluster.answers[`${HISTORY}/revisions?fieldSelector=${NOPE}&limit=${limit}`] = none;
      cluster.answers[`${HISTORY}/revisions?fieldSelector=${CM}settings&limit=${limit}`] ??= {
        body: { items: [settingsDeleted] },
      };
    }
    cluster.answers[`${HISTORY}/revisions?fieldSelector=user=eve&limit=500`] = none;
    cluster.answers[`${HISTORY}/revisions?limit=1&since=1`] = {
      reason: 'Expired',
      message: 'since: history is kept from revision 4000 (2026-11-21T00:00:00.000Z)',
    };
    for (const name of ['nope', 'settings']) {
      cluster.answers[`/api/v1/namespaces/shop/configmaps/${name}`] = {
        reason: 'NotFound',
        message: `configmaps "${name}" not found`,
      };
      cluster.answers[`${HISTORY}/blames/configmaps:shop:${name}`] = {
        reason: 'NotFound',
        message: `blames.history.cluster.io "configmaps:shop:${name}" not found`,
      };
    }
  });

  afterEach(() => vi.unstubAllEnvs());

  const COMMANDS = ['log', 'who', 'diff', 'why', 'undo', 'restore'];

  test.each(COMMANDS)('%s says that an object is unknown, and how far history reaches', async (command) => {
    const { code, stdout, stderr } = await run(`${command} cm/nope`);
    expect({ code, stdout }).toEqual({ code: command === 'diff' ? 2 : 1, stdout: '' });
    expect(stderr).toBe(
      `error: configmap/nope in shop is not there, and history has no trace of it. ${since}\n`,
    );
  });

  test.each(COMMANDS)('%s says that the caller may not read the object', async (command) => {
    const message = 'configmaps "nope" is forbidden: User "eve" cannot get resource "configmaps"';
    cluster.answers[path] = { reason: 'Forbidden', message };
    expect(await run(`${command} cm/nope`)).toMatchObject({ stdout: '', stderr: `error: ${message}\n` });
  });

  test('an object that was not changed is no failure of log, and one of what needs a change', async () => {
    cluster.answers[path] = { body: { kind: 'ConfigMap' } };
    expect(await run('log cm/nope')).toEqual(
      expect.objectContaining({ code: 0, stdout: '', stderr: `No changes found. ${since}\n` }),
    );
    expect(await run('undo cm/nope')).toMatchObject({
      code: 1,
      stderr: `error: configmap/nope in shop was not changed in the time that is kept. ${since}\n`,
    });
  });

  test('an empty list says that it leaves out what the caller may not read', async () => {
    expect(await run('log -A --by eve')).toMatchObject({
      code: 0,
      stderr: `No changes found. Objects that you may not read are left out. ${since}\n`,
    });
  });

  test.each(['show', 'blame'])(
    '%s of what was deleted says by whom, and how it comes back',
    async (command) => {
      expect((await run(`${command} cm/settings`)).stderr).toMatch(
        /^error: .*: alice deleted it 60m ago \(revision 4709\)\. Bring it back: kubectl history restore configmap\/settings -n shop\n$/,
      );
    },
  );
});

test('another server, which would answer what is there now, is not asked what was there', async () => {
  cluster.answers['api-resources --output=wide'] = {
    body: 'NAME          SHORTNAMES   APIVERSION   NAMESPACED   KIND         VERBS\ndeployments   deploy       apps/v1      true         Deployment   get\n',
  };
  const elsewhere = { env: { XDG_CACHE_HOME: '/dev/null' } };
  for (const line of ['show deploy/web --at 4711', 'diff deploy/web --from 4711']) {
    expect(await run(line, elsewhere)).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('keeps no history'),
    });
  }
  expect((await run('show deploy/web', elsewhere)).code).toBe(0);
});

test('log follows: the last ten first, then what comes, over the end of a watch, until Ctrl-C', async () => {
  const watch = (from: string): string =>
    `${HISTORY}/revisions?fieldSelector=${WEB}&watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
  const later = (number: string): object => ({
    ...status,
    metadata: { name: number, resourceVersion: number },
  });
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '4725' } } };
  cluster.answers[watch('4720')] = { lines: [{ type: 'ADDED', object: later('4721') }, bookmark] };
  cluster.answers[watch('4725')] = { lines: [{ type: 'ADDED', object: later('4726') }], isOpen: true };
  const interrupt = new AbortController();
  const { code, stdout, stderr } = await run('log deploy/web -f --oneline', {
    signal: interrupt.signal,
    onOutput: (all) => all.includes('4726') && interrupt.abort(),
  });
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  // What comes later stands in the columns of what came first.
  expect(new Set(stdout.split('\n').map((line) => line.search(/OBJECT|deployment/)))).toEqual(
    new Set([18, -1]),
  );
  expect([...stdout.matchAll(/^\d+/gm)].map(([number]) => number)).toEqual([
    '4700',
    '4712',
    '4713',
    '4721',
    '4726',
  ]);
});

test.each([
  'The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?',
  'error: unexpected EOF',
  'Error from server (ServiceUnavailable): the server is stopping',
])('log goes on where it was once the server answers again: %s', async (failure) => {
  const watch = (from: string): string =>
    `${HISTORY}/revisions?fieldSelector=${WEB}&watch=true&allowWatchBookmarks=true&resourceVersion=${from}`;
  const added = (number: string): FakeAnswer => ({
    lines: [{ type: 'ADDED', object: { ...status, metadata: { name: number, resourceVersion: number } } }],
  });
  cluster.answers[watch('4720')] = added('4721');
  cluster.answers[watch('4721')] = { first: { stderr: failure }, later: added('4722') };
  const interrupt = new AbortController();
  const { code, stdout, stderr } = await run('log deploy/web -f -o name', {
    signal: interrupt.signal,
    onOutput: (all) => all.includes('4722') && interrupt.abort(),
  });
  expect(code).toBe(130);
  expect(stderr).toBe(`${failure.replace(/^.*?rror.*?: /, '')}\nIt is tried again, from revision 4721 on.\n`);
  expect(stdout.match(/\d+$/gm)).toEqual(['4700', '4712', '4713', '4721', '4722']);
});

test('log does not wait for what no waiting mends', async () => {
  const watch = `${HISTORY}/revisions?fieldSelector=${WEB}&watch=true&allowWatchBookmarks=true&resourceVersion=4720`;
  for (const failure of [
    'error: You must be logged in to the server (Unauthorized)',
    'Error from server (Forbidden): revisions is forbidden',
  ]) {
    cluster.answers[watch] = { stderr: failure };
    expect(await run('log deploy/web -f -o name')).toMatchObject({
      code: 1,
      stderr: `error: ${failure.replace(/^.*?rror.*?: /, '')}\n`,
    });
  }
});

test('a watch whose beginning is gone ends with what the server says', async () => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  cluster.answers[
    `${HISTORY}/revisions?fieldSelector=${WEB}&watch=true&allowWatchBookmarks=true&resourceVersion=4720`
  ] = {
    lines: [{ type: 'ERROR', object: gone }],
    isOpen: true,
  };
  const { code, stderr, calls } = await run('log deploy/web -f');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'error: what came after revision 4720 is not kept any more: too old resource version\n',
  });
  await expect.poll(() => isRunning(calls.at(-1))).toBe(false);
});

test('log reads page by page, and no further than its limit', async () => {
  const page = (items: unknown[], token?: string): object => ({
    metadata: { resourceVersion: '9', continue: token },
    items,
  });
  const of = (query: string): string => `${HISTORY}/revisions?fieldSelector=${WEB}&${query}`;
  cluster.answers = {
    [of('limit=500')]: { body: page([status, badImage], 'more') },
    [of('limit=500&continue=more')]: { body: page([created]) },
    [of('limit=3')]: { body: page([status, badImage], 'more') },
    [of('limit=1&continue=more')]: { body: page([created], 'and more') },
  };
  for (const line of ['log deploy/web -o name', 'log deploy/web -o name --limit 3']) {
    expect((await run(line)).stdout.match(/\d+$/gm)).toEqual(['4713', '4712', '4700']);
  }
});

test('a closed output is no error, and ends the requests to the server', async () => {
  const of = (query: string): string => `${HISTORY}/revisions?fieldSelector=${WEB}&limit=500${query}`;
  const page = (token: string): object => ({ metadata: { continue: token }, items: [status] });
  cluster.answers = Object.fromEntries(
    ['', '&continue=1', '&continue=2', '&continue=3'].map((query, at) => [
      of(query),
      { body: page(String(at + 1)) },
    ]),
  );
  const { code, stderr, calls } = await run('log deploy/web', { isBroken: true });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(calls.filter(({ args }) => args.includes('--raw')).length).toBeLessThan(4);
});

test('undo asks, and changes nothing without a yes', async () => {
  const no = await run('undo deploy/web', { typed: 'n' });
  expect(no).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Do it? [y/N] error: nothing was changed'),
  });
  expect(restored(no)).toHaveLength(1);
  const yes = await run('undo deploy/web', { typed: 'y' });
  expect(yes).toMatchObject({ code: 0, stdout: 'deployment.apps/web in shop updated (revision 4730)\n' });
  const object = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' };
  expect(restored(yes)).toEqual([
    { path: `${HISTORY}/restores?dryRun=All`, object, to: '4711' },
    { path: `${HISTORY}/restores`, object, to: '4711' },
  ]);
});

test('undo restores parts, to a moment, without asking where there is no terminal', async () => {
  const outcome = await run("undo deploy/web --to '10 min ago' --path .spec.replicas --path spec.paused");
  expect(outcome.code).toBe(0);
  expect(restored(outcome).at(-1)).toMatchObject({
    to: '2026-11-22T14:00:00.000Z',
    paths: ['spec.replicas', 'spec.paused'],
  });
});

test('an undo that would delete wants a yes', async () => {
  cluster.answers[`POST ${HISTORY}/restores?dryRun=All`] = {
    body: { status: { results: [{ ...planned, action: 'deleted' }] } },
  };
  expect(await run('undo deploy/web')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('say --yes if that is meant'),
  });
  expect((await run('undo deploy/web --yes')).code).toBe(0);
});

test('an undo of a creation is a deletion, which is left to kubectl', async () => {
  cluster.answers[`${HISTORY}/revisions?fieldSelector=${WEB}&limit=500`] = {
    body: { items: [status, created] },
  };
  expect(await run('undo deploy/web')).toMatchObject({
    code: 1,
    stderr:
      'error: the last change is that bob created deployment.apps/web in shop via kubectl-create (revision 4700): kubectl delete takes that back\n',
  });
});

test('what the server refuses of a restore is said of the flags', async () => {
  const refuse = (field: string): void => {
    const message = `The Restore "restore-x" is invalid: ${field}: Invalid value: "a": is wrong`;
    cluster.answers[`POST ${HISTORY}/restores?dryRun=All`] = { reason: 'Invalid', message };
  };
  refuse('spec.to');
  expect((await run('restore deploy/web --at 4')).stderr).toBe('error: --at: Invalid value: "a": is wrong\n');
  expect((await run('undo deploy/web --to 4')).stderr).toBe('error: --to: Invalid value: "a": is wrong\n');
  refuse('spec.paths[0]');
  expect((await run('undo deploy/web --path a')).stderr).toBe(
    'error: --path: Invalid value: "a": is wrong\n',
  );
});

test('restore finds the state before a deletion, of a namespace before it began to go', async () => {
  expect(restored(await run('restore cm/settings --yes'))).toMatchObject([{ to: '4708' }, { to: '4708' }]);
  const shop = { resource: 'namespaces', name: 'shop', version: 'v1', kind: 'Namespace' };
  const write = (number: string, verb: string, path: string): object => ({
    ...{ metadata: { name: number }, object: shop, verb },
    changes: [{ path, new: 'x' }],
  });
  cluster.answers[
    `${HISTORY}/revisions?fieldSelector=object.resource=namespaces,object.namespace=,object.name=shop&limit=100`
  ] = {
    body: {
      items: [
        write('90', 'delete', ''),
        write('80', 'update', 'spec.finalizers'),
        write('70', 'update', 'metadata.deletionTimestamp'),
        write('60', 'update', 'metadata.labels.a'),
      ],
    },
  };
  expect(restored(await run('restore ns/shop --dry-run'))).toMatchObject([{ namespace: 'shop', to: '69' }]);
});

test('a restore of which a part failed ends with 1, and tells which', async () => {
  const failed = { object: { ...planned.object, name: 'api' }, action: 'failed', message: 'quota exceeded' };
  cluster.answers[`POST ${HISTORY}/restores?dryRun=All`] = {
    body: { status: { results: [planned, failed] } },
  };
  expect(await run('restore deploy/web --at 4711 --with-dependents --dry-run')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/api in shop failed: quota exceeded\n1 updated, 1 failed \(dry run\)\n$/),
  });
});

test('hidden values are reported as changed', async () => {
  const hidden = { ...badImage, changes: [{ path: 'data.password', hidden: true }] };
  cluster.answers[`${HISTORY}/revisions?fieldSelector=${WEB}&limit=500`] = { body: { items: [hidden] } };
  expect((await run('log deploy/web')).stdout).toContain(
    '~ data.password: (changed; its value is not shown)\n',
  );
});

test('-o json and yaml are documents of the API', async () => {
  const { stdout } = await run('log deploy/web -o json');
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'RevisionList', items: [status, badImage, created] });
  expect((await run('why pod/web-7d4b9-x2x7k -o yaml')).stdout).toContain('kind: Explanation\n');
  expect(JSON.parse((await run('blame deploy/web --path spec.replicas -o json')).stdout).fields).toHaveLength(
    1,
  );
});

test('integers beyond 2^53 keep their digits', async () => {
  cluster.answers['/apis/apps/v1/namespaces/shop/deployments/web'] = {
    body: '{"metadata":{"name":"web"},"spec":{"count":9007199254740993}}',
  };
  expect((await run('show deploy/web')).stdout).toContain('count: 9007199254740993\n');
  expect((await run('show deploy/web -o json')).stdout).toContain('"count": 9007199254740993\n');
});

test('console prints where the page is, opens it, and ends with Ctrl-C', async () => {
  cluster.answers['/console/'] = { body: '<!doctype html>' };
  cluster.answers.proxy = { lines: ['Starting to serve on a socket'], isOpen: true };
  const opened = (): string | undefined =>
    cluster.calls().find(({ args }) => args[0]?.startsWith('http') === true)?.args[0];
  for (const line of ['console', 'console --no-open']) {
    const interrupt = new AbortController();
    const running = run(line, {
      signal: interrupt.signal,
      onOutput: () => line.endsWith('--no-open') && interrupt.abort(),
    });
    if (line === 'console') {
      await expect.poll(opened).toMatch(ADDRESS);
      interrupt.abort();
    }
    expect(await running).toMatchObject({ code: 130, stdout: expect.stringMatching(ADDRESS), stderr: '' });
  }
  expect(opened()).toBeUndefined();
});

/** With 128 bits that only this line tells. */
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/console\/\n?$/;

test('a proxy that does not start says why', async () => {
  cluster.answers['/console/'] = { body: '<!doctype html>' };
  cluster.answers.proxy = { stderr: 'error: listen unix: permission denied' };
  expect(await run('console')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/does not start: .*permission denied/),
  });
  cluster.answers.proxy = { lines: ['Starting to serve on a socket'], isOpen: true };
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  expect(await run(`console --port ${port}`)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(new RegExp(`--port=${port}: .*EADDRINUSE`)),
  });
  taken.close();
});

test('help is there for everything, with examples', async () => {
  expect(await run('help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("show deploy/web --at '10 min ago'"),
  });
  expect(await run('')).toMatchObject({ code: 2 });
  for (const name of [
    'log',
    'diff',
    'blame',
    'why',
    'show',
    'who',
    'deleted',
    'undo',
    'restore',
    'console',
    'completion',
  ]) {
    const { stdout, code } = await run(`${name} --help`);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`Examples:\n(  #.*\n)?  kubectl history ${name}`));
    const long = stdout.split('\n').filter((line) => line.length > 100);
    expect(long.filter((line) => !line.startsWith('  kubectl history '))).toEqual([]);
  }
  expect((await run('help')).stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
});

test('the command lines of examples are right', { tags: 'long' }, async () => {
  const examples = COMMANDS.filter(({ name }) => name !== 'console').flatMap((command) => command.examples);
  expect(examples.length).toBeGreaterThan(20);
  for (const [line] of examples) {
    const { stderr } = await run(line.replace(/ [|>].*/, ''));
    expect(stderr, line).not.toContain('See ');
  }
});

test('completion offers commands, flags, resource types, names and values', async () => {
  cluster.answers['get deployments.apps --output=name --namespace=shop'] = {
    body: 'deployment.apps/web\ndeployment.apps/api\n',
  };
  const complete = async (...words: string[]): Promise<string[]> =>
    (await cluster.run(['__complete', ...words])).stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
  expect(await complete('b')).toEqual(['blame', ':4', '']);
  expect(await complete('diff', '--f')).toEqual(['--from', ':4', '']);
  expect(await complete('log', 'rep')).toEqual(['replicasets', ':6', '']);
  expect(await complete('log', 'deploy/w')).toEqual(['deploy/web', ':4', '']);
  expect(await complete('log', 'deploy', '')).toEqual(['web', 'api', ':4', '']);
  expect(await complete('log', '-o', 'j')).toEqual(['json', ':4', '']);
  expect(await complete('log', '--output=j')).toEqual(['json', ':4', '']);
  expect(await complete('log', 'deploy/web', '')).toEqual([':4', '']);
  expect(await complete('help', 'bl')).toEqual(['blame', ':4', '']);
  expect(await complete('log', 'nonsense/')).toEqual([':4', '']);
});

test('completion of moments offers the last revisions, with what they did; and moments, even where the server does not answer', async () => {
  cluster.answers[`${HISTORY}/revisions?fieldSelector=${WEB}&limit=10`] = { body: { items: [badImage] } };
  expect((await cluster.run(['__complete', 'why', 'deploy/web', '--revision', ''])).stdout).toBe(
    '4712\tupdated by alice via kubectl-edit 119s ago: spec.template.spec.containers[name=web].image, spec.replica…\n:4\n',
  );
  const moments = '10m\n1h\n24h\ntoday\nyesterday\n';
  expect((await cluster.run(['__complete', 'diff', 'deploy/web', '--from='])).stdout).toContain(
    `${moments}4712\t`,
  );
  cluster.answers = {};
  expect((await cluster.run(['__complete', 'diff', 'deploy/web', '--from', ''])).stdout).toBe(
    `${moments}:4\n`,
  );
});

test('restore completes what is gone as well; names that a shell would take for more than a name are left out', async () => {
  const gone = 'object.resource=deployments.apps,object.namespace=shop,verb=delete';
  cluster.answers[`${HISTORY}/revisions?fieldSelector=${gone}&limit=50`] = {
    body: { items: [{ object: { name: 'old' } }, { object: { name: 'web' } }, { object: { name: '$(x)' } }] },
  };
  cluster.answers['get deployments.apps --output=name --namespace=shop'] = {
    body: 'deployment.apps/web\ndeployment.apps/$(touch x)\ndeployment.apps/a`b\n',
  };
  const { stdout } = await cluster.run(['__complete', 'restore', 'deploy/']);
  expect(stdout).toBe('deploy/old\ndeploy/web\n:4\n');
});
