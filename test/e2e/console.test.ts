// @module-tag long
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTab, startBrowser, type Tab } from '../kit/browser.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { spawnKubectl } from '../kit/running-tool.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** The console, as people use it: in a browser, on a server. */
let database: TestDatabase;
let cluster: Cluster;
let browser: Browser;
/** Of a user who may do anything, and of one who may read the pods of one namespace. */
let token: string;
let guest: string;
let origin: string;
/** Before anything was changed. */
let early: string;

const SHOP = '/api/v1/namespaces/shop';
const MAPS = `${SHOP}/configmaps`;
const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';
const HOSTILE = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>';
const BIDI = 'user\u202etxt.exe';

beforeAll(async () => {
  [database, browser] = await Promise.all([createTestDatabase(), startBrowser()]);
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
  origin = `https://127.0.0.1:${cluster.port}`;
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  await makeUsers();
  await makeWeb();
  await makeHostile();
});

afterAll(async () => {
  await browser.close();
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

interface Written {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly status?: { readonly token?: string };
}

async function write(method: string, path: string, body?: unknown, as = 'alice'): Promise<Written> {
  const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
  const { code, json, text } = await cluster.request(method, path, body, {
    ...{ 'impersonate-user': as, 'impersonate-group': 'system:masters', 'content-type': type },
    'user-agent': as.startsWith('system:') ? 'kube-controller-manager/v1.31' : 'kubectl/v1.31',
  });
  if (code >= 300) throw new Error(text);
  return json;
}

async function makeUsers(): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  for (const name of ['admin', 'guest'])
    await write('POST', `${SHOP}/serviceaccounts`, { metadata: { name } });
  const subject = (name: string) => [{ kind: 'ServiceAccount', name, namespace: 'shop' }];
  await write('POST', `${rbac}/clusterrolebindings`, {
    ...{
      metadata: { name: 'admin-of-all' },
      roleRef: roleRef('ClusterRole', 'cluster-admin'),
      subjects: subject('admin'),
    },
  });
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
  await write('POST', `${rbac}/namespaces/shop/roles`, { metadata: { name: 'pods' }, rules });
  await write('POST', `${rbac}/namespaces/shop/rolebindings`, {
    ...{ metadata: { name: 'pods' }, roleRef: roleRef('Role', 'pods'), subjects: subject('guest') },
  });
  const tokenOf = async (name: string): Promise<string> =>
    (await write('POST', `${SHOP}/serviceaccounts/${name}/token`, { spec: {} })).status?.token ?? '';
  [token, guest] = [await tokenOf('admin'), await tokenOf('guest')];
}

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image, env: [{ name: 'LEVEL', value: 'info' }] }] },
});

const ownedBy = (kind: string, { metadata: { name, uid } }: Written) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

const controller = (name: string): string => `system:serviceaccount:kube-system:${name}-controller`;

/** A deployment with what its controllers would make of it, and then another image. */
async function makeWeb(): Promise<void> {
  const selector = { matchLabels: { app: 'web' } };
  const web = await write('POST', '/apis/apps/v1/namespaces/shop/deployments', {
    metadata: { name: 'web' },
    spec: { replicas: 1, selector, template: template('shop/web:1.4') },
  });
  const set = await write(
    'POST',
    '/apis/apps/v1/namespaces/shop/replicasets',
    {
      metadata: { name: 'web-7d9f8', labels: { app: 'web' }, ...ownedBy('Deployment', web) },
      spec: { replicas: 1, selector, template: template('shop/web:1.4') },
    },
    controller('deployment'),
  );
  const pod = await write(
    'POST',
    `${SHOP}/pods`,
    {
      metadata: { name: 'web-7d9f8-x2k4p', labels: { app: 'web' }, ...ownedBy('ReplicaSet', set) },
      spec: template('shop/web:1.4').spec,
    },
    controller('replicaset'),
  );
  await write('POST', `${SHOP}/events`, {
    metadata: { name: 'web.1' },
    involvedObject: { kind: 'Deployment', namespace: 'shop', name: 'web', uid: web.metadata.uid },
    ...{ reason: 'ScalingReplicaSet', type: 'Warning', message: `Scaled up ${HOSTILE}`, count: 3 },
    lastTimestamp: new Date().toISOString(),
  });
  expect(pod.metadata.name).toBe('web-7d9f8-x2k4p');
  early = await momentOf(pod.metadata.resourceVersion);
  await write('POST', MAPS, { metadata: { name: 'later' }, data: { k: 'v' } });
  await write(
    'PATCH',
    WEB,
    { spec: { template: { spec: { containers: [{ name: 'web', image: 'shop/web:1.5' }] } } } },
    'bob',
  );
}

/** The first millisecond of the API's moments in which the revision is there. */
async function momentOf(revision: string): Promise<string> {
  const [row] = await database.query<{ ms: string }>(
    `SELECT ceil(extract(epoch FROM committed_at) * 1000) AS ms FROM revisions WHERE revision = ${revision}`,
  );
  return new Date(Number(row?.ms)).toISOString();
}

/** All that a client can put into names and values, and printer columns of a kind of its own. */
async function makeHostile(): Promise<void> {
  await write('POST', MAPS, {
    metadata: { name: 'hostile', annotations: { 'example.com/a': HOSTILE } },
    data: { script: HOSTILE, bidi: BIDI, lines: `one\n${HOSTILE}\n`, large: 'x'.repeat(900_000) },
  });
  const group = 'example.com';
  await write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `widgets.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          additionalPrinterColumns: [{ name: 'Says', type: 'string', jsonPath: '.spec.says' }],
        },
      ],
    },
  });
  const says = { says: `${HOSTILE} ${BIDI}` };
  const path = '/apis/example.com/v1/namespaces/shop/widgets';
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'w' }, spec: says };
  await vi.waitFor(
    async () => expect((await cluster.request('POST', path, widget)).code).toBe(201),
    PATIENCE,
  );
}

/** Opens the page, and sees to it that the browser has had nothing to complain about when it is closed. */
async function visit(
  hash: string,
  use: (page: Page, tab: Tab) => Promise<void>,
  {
    as = token,
    complaints = [],
    ...options
  }: Parameters<typeof openTab>[2] & { as?: string; complaints?: RegExp[] } = {},
): Promise<void> {
  const tab = await openTab(browser, `${origin}/console/${hash}`, { token: as, ...options });
  try {
    await use(tab.page, tab);
    expect(await tab.page.evaluate('window.broken')).toBeUndefined();
    expect(tab.complaints.filter((text) => !complaints.some((pattern) => pattern.test(text)))).toEqual([]);
  } finally {
    await tab.close();
  }
}

const seen = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
const gone = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor({ state: 'detached' });
const parameters = (page: Page): URLSearchParams => new URLSearchParams(page.url().split('?')[1]);

test('the page is for everybody, and small; a token opens the cluster, and is kept in the tab alone', async () => {
  await visit(
    '#/list/configmaps',
    async (page) => {
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      const field = page.getByLabel('Token');
      await field.fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await seen(page, 'The server does not know this token');
      await field.fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'later' }).waitFor();
      expect(page.url()).not.toContain(token.slice(0, 20));
      expect(await page.evaluate('Object.keys(localStorage).concat(document.cookie)')).toEqual([
        'pg-apiserver-theme',
        '',
      ]);
      const sizes = await page.evaluate(
        "performance.getEntriesByType('resource').filter((e) => e.name.includes('/assets/')).map((e) => e.encodedBodySize)",
      );
      expect((sizes as number[]).reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000);
      expect(await page.title()).toBe('configmaps · pg-apiserver');
      // It expires: what is seen stays, under the question for another.
      await page.route(/pods/, (route) => route.fulfill({ status: 401, json: { message: 'Unauthorized' } }));
      await page.getByRole('link', { name: 'Pods', exact: true }).click();
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
      await seen(page, 'The server does not know this token');
      await page.getByRole('heading', { name: 'Pods', includeHidden: true }).waitFor();
      await page.unroute(/pods/);
      await field.fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'web-7d9f8-x2k4p' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
    { as: '', complaints: [/status of 40[13]/] },
  );
});

test('through kubectl proxy the page asks for no token, and seven pages at once load and are live', async () => {
  const proxy = spawnKubectl(cluster, ['proxy', '--port=0']);
  try {
    await proxy.says('Starting to serve on');
    const port = /127\.0\.0\.1:(\d+)/.exec(proxy.output)?.[1];
    const tab = await openTab(browser, `http://127.0.0.1:${port}/console/#/list/configmaps?ns=shop`);
    await tab.page.getByRole('link', { name: 'later' }).waitFor();
    await seen(tab.page, 'live');
    expect(tab.complaints).toEqual([]);
    // The browser has six connections to what speaks HTTP/1.1, for all pages of one user together.
    const context = tab.page.context();
    const pages = [tab.page];
    while (pages.length < 7) pages.push(await context.newPage());
    await Promise.all(pages.slice(1).map((page) => page.goto(tab.page.url())));
    await Promise.all(pages.map((page) => page.getByRole('link', { name: 'later' }).waitFor()));
    await write('POST', MAPS, { metadata: { name: 'for-all' } });
    await Promise.all(pages.map((page) => page.getByRole('link', { name: 'for-all' }).waitFor()));
    await write('DELETE', `${MAPS}/for-all`);
    await tab.close();
  } finally {
    proxy.process.kill();
    await proxy.ended;
  }
});

test('a page of another website writes nothing through kubectl proxy', async () => {
  const proxy = spawnKubectl(cluster, ['proxy', '--port=0']);
  // To a browser, localhost is another site than 127.0.0.1; websites elsewhere may not reach this machine in every browser.
  const website = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<title>another website</title>');
  });
  await new Promise<void>((done) => website.listen(0, '127.0.0.1', done));
  const { port } = website.address() as AddressInfo;
  try {
    await proxy.says('Starting to serve on');
    const target = `127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(proxy.output)?.[1]}`;
    const page = await browser.newPage();
    await page.goto(`http://localhost:${port}/`);
    const types = await page.evaluate(async (host) => {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'planted' } });
      // Without a type, and with one that a form may have: a browser asks first for neither.
      const answers = [new Blob([body]), body].map((sent) =>
        fetch(`http://${host}/api/v1/namespaces/shop/configmaps`, {
          method: 'POST',
          mode: 'no-cors',
          body: sent,
        }),
      );
      return (await Promise.all(answers)).map(({ type }) => type);
    }, target);
    // Both have been answered.
    expect(types).toEqual(['opaque', 'opaque']);
    const { code } = await cluster.request('GET', `${MAPS}/planted`);
    expect(code).toBe(404);
    await page.close();
  } finally {
    website.close();
    proxy.process.kill();
    await proxy.ended;
  }
});

test('a list is live, can be searched, sorted and gone through by keys, and opens an object', async () => {
  await visit('#/list/configmaps?ns=shop', async (page) => {
    await seen(page, 'live');
    await write('POST', MAPS, { metadata: { name: 'appears' } });
    await page.getByRole('link', { name: 'appears' }).waitFor();
    await write('DELETE', `${MAPS}/appears`);
    await page.getByRole('link', { name: 'appears' }).waitFor({ state: 'detached' });

    await page.keyboard.press('/');
    await page.keyboard.type('lat');
    await page.getByRole('link', { name: 'hostile' }).waitFor({ state: 'detached' });
    await expect.poll(() => parameters(page).get('q')).toBe('lat');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'hostile' }).waitFor();

    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await expect
      .poll(() => page.locator('td.name').allInnerTexts())
      .toEqual(['later', 'kube-root-ca.crt', 'hostile']);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'later' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'ConfigMaps' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

test('time goes back for the whole page, by moment, slider and keys, and comes back to now', async () => {
  await visit(
    '#/list/configmaps?ns=shop',
    async (page) => {
      await page.getByRole('link', { name: 'later' }).waitFor();
      await page.getByLabel('Go to a moment').fill(early);
      await page.keyboard.press('Enter');
      await seen(page, 'As it was at');
      await page.getByRole('link', { name: 'later' }).waitFor({ state: 'detached' });
      expect(parameters(page).get('at')).toBe(early);

      await page.getByRole('link', { name: 'Deployments', exact: true }).click();
      await page.getByRole('link', { name: 'web', exact: true }).click();
      await seen(page, 'shop/web:1.4');
      expect(parameters(page).get('at')).toBe(early);
      await page.locator('.time-bar[aria-busy=false]').waitFor();
      await page.keyboard.press(']');
      await seen(page, 'shop/web:1.5');
      await page.keyboard.press('[');
      await seen(page, 'shop/web:1.4');
      await page.getByLabel('Moment that is shown').press('End');
      await gone(page, 'As it was at');
      await seen(page, 'shop/web:1.5');
      await page.getByLabel('Moment that is shown').press('Home');
      await seen(page, 'As it was at');
      await page.keyboard.press('n');
      await gone(page, 'As it was at');
    },
    { complaints: [/status of 4(04|10)/] },
  );
});

test('a moment before history says since when history is kept', async () => {
  const message = 'asOf: history is kept from revision 7 (2026-01-31T12:00:00.000Z)';
  await visit(
    '#/list/pods',
    async (page) => {
      await page.route(/asOf=2020/, (route) =>
        route.fulfill({ status: 410, json: { message, reason: 'Expired' } }),
      );
      await page.getByLabel('Go to a moment').fill('2020-01-01 00:00');
      await page.evaluate("location.hash = '#/list/pods?at=2020-01-01T00:00:00Z'");
      await seen(page, 'History does not reach back that far');
      await seen(page, 'history is kept from revision 7');
      await page.getByRole('button', { name: 'Go to the oldest moment' }).click();
      await expect.poll(() => parameters(page).get('at')).toBe('2026-01-31T12:00:02.000Z');
      await page.getByLabel('Go to a moment').fill('2020-01-01 00:00');
      await page.evaluate("location.hash = '#/list/pods?at=2020-01-01T00:00:00Z'");
      await page.getByRole('alert').getByRole('button', { name: 'Back to now' }).click();
      await seen(page, 'live');
    },
    { complaints: [/status of 410/] },
  );
});

test('changes are listed with who, what and where, filtered, followed, and shown one by one', async () => {
  await visit('#/changes?ns=shop', async (page) => {
    const rows = page.locator('.changes tbody tr:not(.gap)');
    await seen(page, 'live');
    await page
      .getByRole('row', { name: /Deployment web/ })
      .first()
      .waitFor();
    await write('POST', MAPS, { metadata: { name: 'followed' } }, 'carol');
    await page.getByRole('row', { name: /ConfigMap followed/ }).waitFor();

    await page.getByLabel('Kind', { exact: true }).selectOption('deployments.apps');
    await page.getByRole('row', { name: /ConfigMap followed/ }).waitFor({ state: 'detached' });
    await page.getByLabel('Who').selectOption('bob');
    await page.getByRole('button', { name: 'Updated' }).click();
    await expect.poll(() => rows.count()).toBe(1);
    expect(Object.fromEntries(parameters(page))).toEqual({
      ns: 'shop',
      kind: 'deployments.apps',
      who: 'bob',
      verb: 'update',
    });
    await expect
      .poll(() => rows.first().innerText())
      .toMatch(/containers\[name=web\]\.image\s.*shop\/web:1\.4.*shop\/web:1\.5/s);

    await rows.first().click();
    const panel = page.getByRole('complementary', { name: 'Change' });
    await panel.getByText('spec.template.spec.containers[name=web].image').waitFor();
    expect(await panel.innerText()).toContain('bob');
    await panel.getByRole('link', { name: 'Compare' }).click();
    await page.locator('.diff mark').first().waitFor();

    await page.goto(`${origin}/console/#/changes?q=followed`);
    await expect.poll(() => rows.count()).toBe(1);
    await page.goto(`${origin}/console/#/changes?q=followed&at=${early}`);
    await seen(page, 'No changes');
  });
});

test('an object shows who set each line, differences of its revisions, what it owns, and its events', async () => {
  await visit('#/object/deployments.apps/shop/web', async (page) => {
    const line = (text: string) => page.getByRole('row').filter({ hasText: text });
    await page.getByRole('button', { name: 'By author' }).click();
    await expect.poll(() => line('image: shop/web:1.5').innerText()).toContain('bob');
    await expect.poll(() => line('apiVersion: apps/v1').innerText()).toContain('alice');
    await page.getByRole('button', { name: 'By age' }).click();
    await expect.poll(() => page.locator('.age-5').count()).toBeGreaterThan(0);

    await page.getByRole('link', { name: 'Compare' }).click();
    await expect.poll(() => page.locator('.split .diff-added mark').allInnerTexts()).toContain('5');
    await page.getByRole('button', { name: 'Unified' }).click();
    await expect
      .poll(() => page.locator('.unified .diff-removed').last().innerText())
      .toContain('image: shop/web:1.4');
    await page
      .getByRole('button', { name: /lines the same/ })
      .first()
      .click();
    await page.getByLabel('From').selectOption('nothing');
    await expect.poll(() => page.locator('.unified .diff-removed').count()).toBe(0);

    await page.getByRole('link', { name: 'Relations' }).click();
    await page.getByRole('link', { name: 'Pod web-7d9f8-x2k4p' }).click();
    await page.getByRole('heading', { name: 'web-7d9f8-x2k4p' }).waitFor();
    await page.getByRole('link', { name: 'Deployment web', exact: true }).click();
    await page.getByRole('heading', { name: 'web', exact: true }).waitFor();

    await page.getByRole('link', { name: 'Events' }).last().click();
    await seen(page, 'ScalingReplicaSet');
    await page.getByRole('link', { name: 'Changes' }).last().click();
    await expect.poll(() => page.locator('.changes tbody tr:not(.gap)').count()).toBe(2);
    await page.keyboard.press('1');
    await page.getByLabel('Managed fields').check();
    await seen(page, 'managedFields:');
  });
});

test('a change says why it was made, back to who began it', async () => {
  await visit('#/changes?ns=shop&kind=pods', async (page) => {
    await page.getByRole('row', { name: /Pod web-7d9f8/ }).click();
    const chain = page.locator('.chain > li');
    await expect.poll(() => chain.count()).toBe(3);
    expect(await chain.nth(1).innerText()).toMatch(/^(certain|likely|possible)[\s\S]*ReplicaSet web-7d9f8/);
    expect(await chain.nth(2).innerText()).toMatch(/Deployment web[\s\S]*alice/);
    await page.getByText('It began with this.').waitFor();
    // What the same client wrote for her beside it.
    const siblings = page.getByRole('region', { name: 'Written along with it' }).getByRole('listitem');
    await expect.poll(() => siblings.first().innerText()).toMatch(/possible/);
    expect(await siblings.allInnerTexts()).not.toContainEqual(expect.stringContaining('Deployment web'));
    await chain.nth(2).getByRole('button').click();
    await page.getByText('This change was made directly').waitFor();
  });
});

test('a state is restored after it was shown what that would do, and not before', async () => {
  await visit('#/object/deployments.apps/shop/web?tab=diff', async (page) => {
    const imageNow = async (): Promise<string> =>
      (await cluster.request('GET', WEB)).json.spec.template.spec.containers[0].image;
    await page.getByRole('button', { name: 'Restore the left one' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore' });
    const image = dialog.getByRole('listitem').filter({ hasText: 'containers[name=web].image' });
    await expect.poll(() => image.innerText()).toMatch(/shop\/web:1\.5[\s\S]*shop\/web:1\.4/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await imageNow()).toBe('shop/web:1.5');
    await page.getByRole('button', { name: 'Restore the left one' }).click();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await page
      .getByRole('dialog', { name: 'Restored' })
      .getByRole('button', { name: 'Close' })
      .last()
      .click();
    expect(await imageNow()).toBe('shop/web:1.4');
    await page.getByRole('link', { name: 'Changes' }).last().click();
    await page.locator('.badge').getByText('restored').waitFor();
  });
});

test('fields are put back one by one, out of a difference or out of blame, and all others stay', async () => {
  const pathOfMap = `${MAPS}/several`;
  const dataNow = async (): Promise<unknown> => (await cluster.request('GET', pathOfMap)).json.data;
  await write('POST', MAPS, { metadata: { name: 'several' }, data: { a: '1', b: '1', 'c.d': '1' } });
  await write('PATCH', pathOfMap, { data: { a: '2', b: '2', 'c.d': '2', e: '2' } }, 'bob');
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Restore' });
  const done = (page: Page) => page.getByRole('dialog', { name: 'Restored' });
  await visit('#/object/configmaps/shop/several?tab=diff', async (page) => {
    await page.getByRole('button', { name: 'Choose fields' }).click();
    await page.getByRole('checkbox', { name: 'Put back data["c.d"]' }).check();
    await page.getByRole('checkbox', { name: 'Put back data.e' }).check();
    await page.getByText('2 fields to put back').waitFor();
    await page.getByRole('button', { name: 'Restore these…' }).click();
    await dialog(page).getByText('2 of 4 fields').waitFor();
    await dialog(page)
      .getByRole('checkbox', { name: /data\.b/ })
      .check();
    await dialog(page)
      .getByRole('checkbox', { name: /data\.e/ })
      .uncheck();
    expect(await dataNow()).toEqual({ a: '2', b: '2', 'c.d': '2', e: '2' });
    await dialog(page).getByRole('button', { name: 'Restore 2 fields' }).click();
    await done(page).getByRole('button', { name: 'Close' }).last().click();
    expect(await dataNow()).toEqual({ a: '2', b: '1', 'c.d': '1', e: '2' });
    // What is compared next is what was written by it.
    await page.getByRole('checkbox', { name: 'Put back data.b' }).waitFor();
    await page.getByRole('checkbox', { name: 'Put back data.e' }).waitFor({ state: 'detached' });
  });
  await visit('#/object/configmaps/shop/several?blame=author', async (page) => {
    await page
      .getByRole('button', { name: /Put back what bob changed/ })
      .first()
      .click();
    await dialog(page).getByText('2 of 2 fields').waitFor();
    await dialog(page)
      .getByRole('checkbox', { name: /data\.e/ })
      .uncheck();
    await dialog(page).getByRole('button', { name: 'Restore 1 field' }).click();
    await done(page).getByRole('button', { name: 'Close' }).last().click();
    expect(await dataNow()).toEqual({ a: '1', b: '1', 'c.d': '1', e: '2' });
    await page
      .getByRole('button', { name: /Put back what alice changed/ })
      .first()
      .click();
    await seen(page, 'there is nothing before it');
  });
});

test('names and values with markup, scripts and turned-around text are shown as what they are', async () => {
  await visit('#/object/configmaps/shop/hostile', async (page) => {
    await seen(page, HOSTILE);
    await seen(page, 'user\\u202etxt.exe');
    await seen(page, /899,000 more characters/);
    await page.getByRole('link', { name: 'Changes' }).last().click();
    await page.locator('.changes tbody tr:not(.gap)').first().click();
    await page.getByRole('complementary').waitFor();
    await page.getByRole('link', { name: 'Compare' }).first().click();
    await seen(page, HOSTILE);
  });
  await visit('#/list/widgets.example.com', async (page) => {
    await seen(page, /<img src=x/);
    expect(await page.locator('.unseen').allInnerTexts()).toContain('U+202E');
    expect(await page.locator('main img, main script').count()).toBe(0);
  });
  await visit('#/object/deployments.apps/shop/web?tab=events', (page) => seen(page, /Scaled up <img src=x/));
  await visit(
    `#/list/${encodeURIComponent(HOSTILE)}?ns=${encodeURIComponent(HOSTILE)}&q=${encodeURIComponent(BIDI)}`,
    (page) => seen(page, 'There is no such kind'),
    // There is no such namespace either.
    { complaints: [/status of 404/] },
  );
});

test('the page shows what its user may see, and tells what not', async () => {
  await visit(
    '#/list/configmaps?ns=shop',
    async (page) => {
      await seen(page, 'You may not see this');
      await seen(page, /cannot list resource "configmaps"/);
      await page.getByRole('link', { name: 'Pods', exact: true }).click();
      await page.getByRole('link', { name: 'web-7d9f8-x2k4p' }).waitFor();
      await page.getByRole('link', { name: 'Changes' }).click();
      await page.getByRole('row', { name: /Pod web-7d9f8/ }).waitFor();
      await expect.poll(() => page.locator('.changes .object-kind').allInnerTexts()).toEqual(['Pod']);
      // Who may list, and may not watch.
      await page.route(/pods\?.*watch=1/, (route) => route.fulfill({ status: 403, json: { message: 'no' } }));
      await page.getByRole('link', { name: 'Pods', exact: true }).click();
      await seen(page, 'not live: you may not watch');
      await page.getByRole('link', { name: 'web-7d9f8-x2k4p' }).waitFor();
    },
    { as: guest, complaints: [/status of 403/] },
  );
});

test('the page shows that the server is away; when it is back the list goes on with what was missed', async () => {
  await visit(
    '#/list/configmaps?ns=shop',
    async (page) => {
      await seen(page, 'live');
      await cluster.kill();
      await seen(page, 'The server does not answer');
      await page.getByRole('link', { name: 'later' }).waitFor();
      await cluster.start();
      await write('POST', MAPS, { metadata: { name: 'missed' } });
      await page.getByRole('link', { name: 'missed' }).waitFor();
      await gone(page, 'The server does not answer');
    },
    { complaints: [/ERR_|Failed to load/] },
  );
});

/** What a browser tells a page whose tab goes to the background, or comes back. */
const turn = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

test('in the background a page holds no stream, in sight one, and shown again it has missed nothing', async () => {
  await visit('#/list/configmaps?ns=shop', async (page) => {
    const streams = new Set<Request>();
    page.on('request', (request) => request.url().includes('watch=1') && streams.add(request));
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfailed', (request) => streams.delete(request));
    for (const hash of ['#/changes', '#/object/deployments.apps/shop/web', '#/list/configmaps?ns=shop']) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await expect.poll(() => streams.size).toBe(1);
    }
    await page.getByRole('link', { name: 'Deployments', exact: true }).click();
    await page.getByRole('link', { name: 'web', exact: true }).click();
    await page.getByRole('link', { name: 'Changes' }).last().click();
    await page.locator('.changes td').first().waitFor();
    await expect
      .poll(() => [...streams].map((one) => one.url()))
      .toEqual([expect.stringContaining('/revisions?')]);
    await page.getByRole('link', { name: 'ConfigMaps', exact: true }).click();
    await seen(page, 'live');
    await turn(page, 'hidden');
    await expect.poll(() => streams.size).toBe(0);
    const lists: string[] = [];
    page.on('request', (request) => !request.url().includes('watch=1') && lists.push(request.url()));
    await write('POST', MAPS, { metadata: { name: 'unseen' } });
    await write('DELETE', `${MAPS}/later`);
    await turn(page, 'visible');
    await page.getByRole('link', { name: 'unseen' }).waitFor();
    await page.getByRole('link', { name: 'later' }).waitFor({ state: 'detached' });
    expect(lists.filter((url) => /configmaps/.test(url))).toEqual([]);
    await write('POST', MAPS, { metadata: { name: 'later' }, data: { k: 'v' } });
    await write('DELETE', `${MAPS}/unseen`);
  });
});

test('while the server cannot answer, the page says so, keeps what it has, and asks ever more rarely', async () => {
  await visit(
    '#/list/configmaps?ns=shop',
    async (page) => {
      await seen(page, 'live');
      const asked: number[] = [];
      const answer = (status: number, message: string) =>
        page.route(/configmaps/, (route) => {
          asked.push(performance.now());
          return route.fulfill({ status, json: { message } });
        });
      // The stream is begun anew.
      const again = async (): Promise<void> => {
        await turn(page, 'hidden');
        await turn(page, 'visible');
      };
      await answer(503, 'the database is away');
      await again();
      await seen(page, 'the database is away');
      await page.getByRole('link', { name: 'later' }).waitFor();
      await expect.poll(() => asked.length, PATIENCE).toBeGreaterThanOrEqual(3);
      expect((asked[2] ?? 0) - (asked[1] ?? 0)).toBeGreaterThan(350);
      await page.unroute(/configmaps/);
      await gone(page, 'the database is away');
      await seen(page, 'live');

      // What is compacted is read again; a server that says nothing else is not asked without end.
      await page.route(/configmaps.*watch=1/, (route) => {
        asked.push(performance.now());
        return route.fulfill({ status: 410, json: { message: 'too old', reason: 'Expired' } });
      });
      asked.length = 0;
      await again();
      await expect.poll(() => asked.length, PATIENCE).toBeGreaterThanOrEqual(3);
      expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(350);
      await page.getByRole('link', { name: 'later' }).waitFor();
      await page.unroute(/configmaps.*watch=1/);
      await seen(page, 'live');

      await answer(403, 'you may not list configmaps any more');
      await again();
      await seen(page, 'you may not list configmaps any more');
      await page.getByRole('link', { name: 'later' }).waitFor();
    },
    { complaints: [/status of (503|410|403)/] },
  );
});

/** Run in the page: what has no name for those who do not see it, and text with too little contrast (WCAG 2.2, 1.4.3). */
const FAULTS = `(() => {
  const faults = [];
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((value, index) => value * top[3] + under[index] * (1 - top[3]));
  const groundOf = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(rgba(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const element of document.querySelectorAll('button, a, input, select, [tabindex="0"]')) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const name = element.getAttribute('aria-label') ?? element.innerText ?? '';
    const label = element.labels?.[0]?.innerText ?? '';
    if ((name + label).trim() === '') faults.push('no name: ' + element.outerHTML.slice(0, 100));
  }
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    const style = getComputedStyle(element);
    if (!own || !element.checkVisibility({ visibilityProperty: true }) || element.closest('svg, option, :disabled, noscript')) continue;
    const ground = groundOf(element);
    const text = luminance(over(rgba(style.color), ground));
    const [low, high] = [text, luminance(ground)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faults.push(ratio.toFixed(2) + ': ' + element.className + ' ' + element.innerText.slice(0, 40));
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the window');
  return [...new Set(faults)];
})()`;

test('every page has names for all that can be used and contrast for all that can be read, dark and light, and fits a phone', async () => {
  const pages: readonly (readonly [string, string])[] = [
    ['#/list/pods', '.objects td'],
    [`#/list/pods?at=${early}`, '.objects td'],
    ['#/changes?rev=1', '.changes td'],
    ['#/object/deployments.apps/shop/web?blame=author', '.blame-first'],
    ['#/object/deployments.apps/shop/web?tab=diff', '.diff mark'],
    ['#/object/configmaps/shop/several?tab=diff&pick=1', '.pick'],
    ['#/object/configmaps/shop/several?tab=diff&pick=1&rev=1', '.panel .facts'],
    ['#/object/deployments.apps/shop/web?tab=events', '.events li'],
  ];
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = colorScheme === 'light' ? { width: 1280, height: 800 } : { width: 390, height: 800 };
    await visit(
      '',
      async (page) => {
        for (const [hash, sign] of pages) {
          await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
          await page.locator(sign).first().waitFor();
          expect(await page.evaluate(FAULTS), `${hash} ${colorScheme}`).toEqual([]);
        }
        await page.getByRole('button', { name: 'Dark or light' }).click();
        expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(
          colorScheme === 'light' ? 'dark' : 'light',
        );
      },
      { colorScheme, viewport },
    );
  }
});

// This test is the last: the reads of all others would go through its objects too.
test('of 10,000 objects only those in sight are drawn', async () => {
  const writes = Array.from({ length: 10_000 }, (_, index) => ({
    ...{ ordinal: index + 1, verb: 'create', api_group: '', resource: 'configmaps', namespace: 'many' },
    ...{
      name: `many-${String(index).padStart(5, '0')}`,
      uid: crypto.randomUUID(),
      write_id: crypto.randomUUID(),
    },
    ...{ username: 'alice', user_agent: '', source_address: '', request_id: '', field_manager: '' },
  }));
  const objects = writes.map(({ name, uid, namespace }) =>
    JSON.stringify({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace, uid, creationTimestamp: '2026-01-31T12:00:00Z' },
    }),
  );
  await database.query('SELECT 1 FROM commit_revisions($1::json, $2::json[])', [
    JSON.stringify(writes),
    objects,
  ]);
  // A busy server needs seconds to read so many, and answers 503 until it has.
  const list = () => cluster.request('GET', '/api/v1/namespaces/many/configmaps?limit=1');
  await expect.poll(async () => (await list()).code).toBe(200);
  await visit('#/list/configmaps?ns=many', async (page) => {
    await page.getByText('10,000').waitFor();
    expect(await page.locator('tbody tr').count()).toBeLessThan(80);
    const last = await page.evaluate(`new Promise((resolve) => {
      const rows = document.querySelector('.rows');
      let step = 0;
      const next = () => {
        if (++step > 60) return resolve([...document.querySelectorAll('td.name')].at(-1).innerText);
        rows.scrollTop = rows.scrollHeight * step / 60;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    })`);
    expect(last).toBe('many-09999');
  });
});
