// @module-tag long
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { rollOut } from '../kit/roll-out.ts';
import { spawnKubectl } from '../kit/running-tool.ts';
import { hasShell, startShell } from '../kit/shell.ts';
import { kubectlPath, type ToolResult } from '../kit/tools.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** The plugin as users have it: one file, copied into a folder of PATH, run by the real kubectl against a real server. */
const BUNDLE = fileURLToPath(new URL('../../dist/kubectl-history.js', import.meta.url));

let database: TestDatabase;
let cluster: Cluster;
let path: string;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
  const folder = join(cluster.folder, 'bin');
  mkdirSync(folder);
  copyFileSync(BUNDLE, join(folder, 'kubectl-history'));
  symlinkSync(join(folder, 'kubectl-history'), join(folder, 'kubectl_complete-history'));
  symlinkSync(kubectlPath(), join(folder, 'kubectl'));
  path = [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':');
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const kubectl = (args: string): Promise<ToolResult> =>
  cluster.kubectl(args, undefined, { PATH: path, TZ: 'UTC' });

async function history(args: string, code = 0): Promise<string> {
  const result = await kubectl(`history ${args}`);
  expect(result).toMatchObject({ code });
  return result.stdout;
}

test('the file is small, and needs nothing beside it', () => {
  const text = readFileSync(BUNDLE, 'utf8');
  expect(text.length).toBeLessThan(200_000);
  expect(text).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(text).not.toMatch(/^\s*(import|export) /m);
  const loaded = [...text.matchAll(/getBuiltinModule \?\? require\)\("node:([\w/]+)"\)/g)].map(
    ([, name = '']) => name,
  );
  expect(loaded.length).toBeGreaterThan(3);
  expect(builtinModules).toEqual(expect.arrayContaining(loaded));
});

test('kubectl runs it as its own command, and completes it', async () => {
  expect(await history('help')).toContain('kubectl history COMMAND');
  const { stdout } = await kubectl('__complete history bl');
  expect(stdout).toMatch(/^blame\t.*\n:4\n/);
});

test('an object is shown as it was', async () => {
  await kubectl('create configmap settings --from-literal=a=first');
  const { stdout: revision } = await kubectl(
    "get configmap settings -o 'jsonpath={.metadata.resourceVersion}'",
  );
  await kubectl('create configmap settings2');
  await kubectl(`patch configmap settings --type=merge -p '{"data":{"a":"second"}}'`);
  expect(await history(`show cm/settings --at ${revision}`)).toContain('a: first\n');
  expect(await history(`show cm --at ${revision} -o name -n default`)).toBe(
    'configmap/kube-root-ca.crt\nconfigmap/settings\n',
  );
  expect(await history(`diff cm/settings --from ${revision} -U0`, 1)).toContain(
    '-  a: first\n+  a: second\n',
  );
});

test('changes and their authors are shown, of one object and of all, and followed', {
  tags: 'long',
}, async () => {
  await kubectl('create deployment web --image=nginx:1.26');
  await kubectl('set image deployment/web nginx=nginx:9.99 --as=alice --as-group=system:masters');
  const masked = (text: string): string =>
    text.replaceAll(/^\d+(?=\s)/gm, 'N').replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\w+ ago\)/g, 'WHEN');
  expect(masked(await history('log deploy/web'))).toBe(`N  WHEN  updated by alice via kubectl-set
    ~ spec.template.spec.containers[name=nginx].image: nginx:1.26 → nginx:9.99

N  WHEN  created by kubernetes-admin via kubectl-create
`);
  expect(await history('diff deploy/web -U0', 1)).toContain(
    '-      - image: nginx:1.26\n+      - image: nginx:9.99\n',
  );
  expect(await history('who deploy --since 1h')).toMatch(
    /^alice +kubectl-set +1 +\w+ +deployment\.apps\/web\nkubernetes-admin +kubectl-create +1 /m,
  );
  expect(await history('blame deploy/web --path spec.template.spec.containers')).toMatch(
    /^\d+ +alice +kubectl-set +\w+ +│ +image: nginx:9\.99$/m,
  );

  const following = spawnKubectl(cluster, ['history', 'log', 'cm', '-f', '--oneline'], { PATH: path });
  await following.says('configmap/settings');
  await kubectl('delete configmap settings2');
  await following.says(/configmap\/settings2 +deleted/);
  following.process.kill('SIGINT');
  expect(await following.ended).toBe(130);
  expect(await history('deleted cm')).toMatch(/^configmap\/settings2 +\w+ +\d+ +kubernetes-admin$/m);
});

const SHELLS = ['bash', 'zsh', 'fish'].map((shell) => ({
  shell,
  title: hasShell(shell) ? shell : `${shell}, which is not installed`,
}));

describe.each(SHELLS)('$title', ({ shell }) => {
  const load: Record<string, string> = {
    bash: 'source <(kubectl-history completion bash)',
    zsh: 'autoload -Uz compinit; compinit -u -D; source <(kubectl-history completion zsh)',
    fish: 'kubectl-history completion fish | source',
  };

  test.skipIf(!hasShell(shell))(
    'completes commands, flags, types, names, namespaces, moments and revisions',
    async () => {
      using terminal = await startShell(shell, {
        ...{ PATH: path, HOME: cluster.folder, KUBECONFIG: cluster.kubeconfig },
      });
      await terminal.does(load[shell] ?? '');
      await terminal.completes('kubectl-history bl', 'kubectl-history blame');
      await terminal.completes('kubectl-history log --oneline repl', 'log --oneline replica');
      await terminal.completes('kubectl-history log deploy/', 'log deploy/web');
      await terminal.completes('kubectl-history log -n default deploy ', 'deploy web');
      await terminal.completes('kubectl-history log deploy/web --si', 'web --since');
      await terminal.completes('kubectl-history log deploy/web --since=yes', '--since=yesterday');
      await terminal.completes('kubectl-history log -n kube-pu', '-n kube-public');
      await terminal.completes('kubectl-history log clusterrole/system:basic-', 'system:basic-user');
      await kubectl(`create configmap once-${shell}`);
      const revision = (await history(`log cm/once-${shell} -o name`)).trim().replace(/.*\//, '');
      await terminal.completes(`kubectl-history why cm/once-${shell} --revision `, `--revision ${revision}`);
    },
  );
});

test('a name that a shell would run is not completed', async () => {
  await kubectl(`create clusterrole 'innocent$(touch x)' --verb=get --resource=pods`);
  const { stdout } = await kubectl('__complete history log clusterrole/innocent');
  expect(stdout).toBe(':4\n');
});

test('the answer to a user who may not read an object does not name it', async () => {
  await kubectl('create serviceaccount stranger');
  const as = '--as=system:serviceaccount:default:stranger';
  expect(await history(`who -A ${as}`)).not.toContain('alice');
  const refused = await kubectl(`history blame deploy/web ${as}`);
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: .*forbidden/),
  });
});

test('an incident: a bad image is found by who and why, seen, blamed and taken back; a namespace deleted by mistake is there again', {
  tags: 'long',
}, async () => {
  const masters = '--as-group=system:masters';
  await kubectl('create namespace shop');
  await kubectl(`create deployment web -n shop --image=web:1.4.2 --as=ann@example.com ${masters}`);
  await kubectl('create configmap settings -n shop --from-literal=level=info');
  await kubectl(`set image deployment/web -n shop web=web:1.4.3 --as=bob@example.com ${masters}`);
  const pod = await rollOut(cluster, 'web', 'shop');

  expect(await history('who -n shop --since 1h')).toMatch(
    /^bob@example\.com +kubectl-set +1 +\w+ +deployment\.apps\/web$/m,
  );
  const why = await history(`why pod/${pod} -n shop`);
  expect(why).toMatch(
    /^pod\/web-5c4b9-x7k2p in shop: because bob@example\.com updated deployment\.apps\/web in shop via kubectl-set, \w+ ago\.\n/,
  );
  expect(why).toMatch(
    /\n {6}~ spec\.template\.spec\.containers\[name=web\]\.image: web:1\.4\.2 → web:1\.4\.3\n$/,
  );
  expect(why.match(/ certain: /g)).toHaveLength(2);
  expect(await history('diff deploy/web -n shop -U0', 1)).toContain(
    '-      - image: web:1.4.2\n+      - image: web:1.4.3\n',
  );
  expect(await history('blame deploy/web -n shop')).toMatch(
    /^\d+ +bob@example\.com +kubectl-set +\w+ +│ +(- )?image: web:1\.4\.3$/m,
  );
  const image = "get deployment web -n shop -o 'jsonpath={.spec.template.spec.containers[0].image}'";
  const change = /image: web:1\.4\.3 → web:1\.4\.2\n$/;
  expect(await history('undo deploy/web -n shop --dry-run')).toMatch(change);
  expect((await kubectl(image)).stdout).toBe('web:1.4.3');
  expect(await history('undo deploy/web -n shop')).toMatch(change);
  expect((await kubectl(image)).stdout).toBe('web:1.4.2');
  expect(await history('log deploy/web -n shop --limit 1')).toMatch(
    / updated by .* via restore\n +restored to revision \d+\n/,
  );

  await kubectl('delete namespace shop');
  expect(await history('deleted ns -o wide')).toMatch(
    /^namespace\/shop .*kubernetes-admin updated namespace\/shop via kubectl\S*$/m,
  );
  const restored = await history('restore namespace/shop');
  expect(restored).toContain('deployment.apps/web in shop created (revision ');
  expect(restored).toContain('configmap/settings in shop created (revision ');
  expect(restored).toContain(`pod/${pod} in shop skipped: ReplicaSet web-5c4b9 makes it anew\n`);
  expect((await kubectl(image)).stdout).toBe('web:1.4.2');
});
