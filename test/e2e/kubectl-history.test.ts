import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { spawnKubectl } from '../kit/running-tool.ts';
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

test('what was changed is told, and by whom, of one object and of all, and followed', async () => {
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

test('who may not read an object is not told of it, in words that name it', async () => {
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

test('a bad change is explained and taken back; a namespace comes back with what was in it', async () => {
  await kubectl('create namespace shop');
  await kubectl('create deployment web -n shop --image=nginx:1.26');
  await kubectl('set image deployment/web -n shop nginx=nginx:9.99 --as=alice --as-group=system:masters');
  expect(await history('why deploy/web -n shop')).toMatch(
    /^deployment\.apps\/web in shop: alice via kubectl-set did it, \w+ ago\.\n/,
  );
  const image = "get deployment web -n shop -o 'jsonpath={.spec.template.spec.containers[0].image}'";
  const change = /nginx:9\.99 → nginx:1\.26\n$/;
  expect(await history('undo deploy/web -n shop --dry-run')).toMatch(change);
  expect((await kubectl(image)).stdout).toBe('nginx:9.99');
  expect(await history('undo deploy/web -n shop')).toMatch(change);
  expect((await kubectl(image)).stdout).toBe('nginx:1.26');
  expect(await history('log deploy/web -n shop --limit 1')).toMatch(
    / updated by .* via restore\n +restored to revision \d+\n/,
  );

  await kubectl('delete namespace shop');
  expect(await history('deleted ns -o wide')).toMatch(
    /^namespace\/shop .*kubernetes-admin updated namespace\/shop via kubectl\S*$/m,
  );
  expect(await history('restore namespace/shop')).toContain('deployment.apps/web in shop created (revision ');
  expect((await kubectl(image)).stdout).toBe('nginx:1.26');
});
