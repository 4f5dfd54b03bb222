// @module-tag long
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import type { ProbeReading } from '../kit/event-loop-probe.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** What becomes of objects whose owners are deleted, on a server without a controller manager. */

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  const preload = fileURLToPath(new URL('../kit/event-loop-probe.ts', import.meta.url));
  cluster = await startCluster(database.url, [], { preload });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

interface Meta {
  readonly name: string;
  readonly uid: string;
  readonly namespace?: string;
  readonly finalizers?: string[];
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: Owner[];
}

interface Made {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Meta;
}

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const SETS = '/apis/apps/v1/namespaces/default/replicasets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const ownedBy = ({ kind, apiVersion, metadata: { name, uid } }: Made, blockOwnerDeletion = true): Owner => ({
  ...{ kind, apiVersion, name, uid },
  blockOwnerDeletion,
});

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

async function make(path: string, object: object): Promise<Made> {
  const { code, json } = await cluster.request('POST', path, object);
  expect(code, JSON.stringify(json)).toBe(201);
  return json;
}

const map = (name: string, owners: readonly Owner[] = [], more: object = {}): Promise<Made> =>
  make(MAPS, { metadata: { name, ownerReferences: owners, ...more } });

const SPEC = { containers: [{ name: 'web', image: 'web' }] };
const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: SPEC };
const SELECTED = { selector: { matchLabels: { app: 'web' } }, template: TEMPLATE };

interface Workload {
  readonly deployment: Made;
  readonly set: Made;
  readonly pod: Made;
}

/** A deployment with a replica set and a pod, as controllers make them. */
async function workload(name: string): Promise<Workload> {
  const deployment = await make(DEPLOYMENTS, { metadata: { name }, spec: SELECTED });
  const set = await make(SETS, {
    metadata: { name, ownerReferences: [{ ...ownedBy(deployment), controller: true }] },
    spec: SELECTED,
  });
  const pod = await make(PODS, {
    metadata: { name, labels: { app: 'web' }, ownerReferences: [{ ...ownedBy(set), controller: true }] },
    spec: SPEC,
  });
  return { deployment, set, pod };
}

const read = async (path: string): Promise<Made | undefined> => {
  const { code, json } = await cluster.request('GET', path);
  return code === 404 ? undefined : json;
};

const gone = (path: string): Promise<void> =>
  vi.waitFor(async () => expect(await read(path), path).toBeUndefined(), PATIENCE);

/** Changes of a collection from now on, as `TYPE name`. */
function follow(path: string): { readonly lines: () => string[]; stop(): void } {
  const watch = cluster.watch(`${path}?watch=true`);
  return {
    lines: () => watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`),
    stop: watch.stop,
  };
}

test('kubectl delete leaves nothing of a deployment behind', async () => {
  await workload('back');
  await ok('delete deployment back --cascade=background');
  await gone(`${SETS}/back`);
  await gone(`${PODS}/back`);
});

test('in the foreground, a deployment goes last', async () => {
  await workload('fore');
  await ok('delete deployment fore --cascade=foreground');
  expect(await read(`${DEPLOYMENTS}/fore`)).toBeUndefined();
  expect(await read(`${SETS}/fore`)).toBeUndefined();
  expect(await read(`${PODS}/fore`)).toBeUndefined();
});

test('orphans stay, and have no owner any more', async () => {
  await workload('orphan');
  await ok('delete deployment orphan --cascade=orphan');
  await gone(`${DEPLOYMENTS}/orphan`);
  const set = await read(`${SETS}/orphan`);
  expect(set?.metadata.ownerReferences).toBeUndefined();
  expect((await read(`${PODS}/orphan`))?.metadata.ownerReferences).toMatchObject([
    { uid: set?.metadata.uid },
  ]);
});

test('orphanDependents of old clients is obeyed', async () => {
  const owner = await map('old-owner');
  await map('old-dependent', [ownedBy(owner)]);
  await cluster.request('DELETE', `${MAPS}/old-owner`, { orphanDependents: true });
  await gone(`${MAPS}/old-owner`);
  const dependent = await read(`${MAPS}/old-dependent`);
  expect(dependent?.metadata.ownerReferences).toBeUndefined();
  expect(dependent?.metadata.deletionTimestamp).toBeUndefined();
});

test('a dependent that another owner keeps loses the owner that is gone, and the one that waits for it', async () => {
  const [solid, deleted, waiting] = [await map('solid'), await map('deleted'), await map('waiting')];
  await map('kept', [ownedBy(solid), ownedBy(deleted), ownedBy(waiting)]);
  await cluster.request('DELETE', `${MAPS}/deleted`, { propagationPolicy: 'Background' });
  await cluster.request('DELETE', `${MAPS}/waiting`, { propagationPolicy: 'Foreground' });
  await gone(`${MAPS}/waiting`);
  await vi.waitFor(
    async () =>
      expect((await read(`${MAPS}/kept`))?.metadata.ownerReferences).toMatchObject([{ name: 'solid' }]),
    PATIENCE,
  );
});

test('custom resources own and are owned, and one of a kind that is not served decides nothing', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const definition = definitionOf({ plural: 'ships', kind: 'Ship' });
  const early = { apiVersion: 'stable.example.com/v1', kind: 'Ship', name: 'lost', uid: 'never-was' };
  await map('waits', [early]);
  await make(definitions, definition);
  await ok('wait --for=condition=Established crd/ships.stable.example.com');
  await gone(`${MAPS}/waits`);
  const ships = '/apis/stable.example.com/v1/namespaces/default/ships';
  const ship = await make(ships, {
    kind: 'Ship',
    apiVersion: 'stable.example.com/v1',
    metadata: { name: 'a' },
  });
  const boat = {
    kind: 'Ship',
    apiVersion: 'stable.example.com/v1',
    metadata: { name: 'b', ownerReferences: [ownedBy(ship)] },
  };
  const cargo = await map('cargo', [ownedBy(await make(ships, boat))]);
  expect(cargo.metadata.ownerReferences).toHaveLength(1);
  await cluster.request('DELETE', `${ships}/a`);
  await gone(`${MAPS}/cargo`);
  await gone(`${ships}/b`);
  const last = await make(ships, {
    ...{ kind: 'Ship', apiVersion: 'stable.example.com/v1' },
    metadata: { name: 'c' },
  });
  await map('wreck', [ownedBy(last)]);
  await cluster.request('DELETE', `${definitions}/ships.stable.example.com`);
  await gone(`${MAPS}/wreck`);
});

test('a namespace ends while owners in it wait for their dependents', async () => {
  await ok('create namespace ending');
  const path = '/api/v1/namespaces/ending/configmaps';
  const owner = await make(path, { metadata: { name: 'owner' } });
  const names = Array.from({ length: 20 }, (_, at) => `m${at}`);
  await Promise.all(
    names.map((name) => make(path, { metadata: { name, ownerReferences: [ownedBy(owner)] } })),
  );
  await Promise.all([
    cluster.request('DELETE', `${path}/owner`, { propagationPolicy: 'Foreground' }),
    cluster.request('DELETE', '/api/v1/namespaces/ending'),
  ]);
  await gone('/api/v1/namespaces/ending');
});

test('history says that the collector did it, under the name that policies of Kubernetes know', async () => {
  await map('by-whom', [ownedBy(await map('whose'))]);
  await cluster.request('DELETE', `${MAPS}/whose`);
  await gone(`${MAPS}/by-whom`);
  const rows = await database.query(
    "SELECT username, user_agent FROM revisions WHERE name = 'by-whom' AND verb = 'delete'",
  );
  expect(rows).toEqual([
    {
      username: 'system:serviceaccount:kube-system:generic-garbage-collector',
      user_agent: 'generic-garbage-collector',
    },
  ]);
});

test('many dependents go at once, and block the thread only shortly', async () => {
  const owner = await map('crowded');
  const count = 1000;
  let made = 0;
  const clients = Array.from({ length: 32 }, async () => {
    while (made < count) {
      made += 1;
      await map(`crowd-${made}`, [ownedBy(owner)], { labels: { crowd: 'yes' } });
    }
  });
  await Promise.all(clients);
  await cluster.ask('begin');
  await cluster.request('DELETE', `${MAPS}/crowded`, { propagationPolicy: 'Foreground' });
  await gone(`${MAPS}/crowded`);
  const { longestMs, slowness } = (await cluster.ask('end')) as ProbeReading;
  expect(longestMs).toBeLessThan(100 * slowness);
  const { json } = await cluster.request('GET', `${MAPS}?labelSelector=crowd%3Dyes`);
  expect(json.items).toEqual([]);
  const { text } = await cluster.request('GET', '/metrics');
  expect(text).toMatch(/^workqueue_adds_total\{name="garbage_collector_attempt_to_delete"\} \d{4}$/m);
  expect(text).toMatch(/^garbagecollector_controller_resources_sync_error_total \d+$/m);
});

test('an owner in another namespace is none: the dependent goes, and an event says why', async () => {
  await ok('create namespace elsewhere');
  const owner = await make('/api/v1/namespaces/elsewhere/configmaps', { metadata: { name: 'far' } });
  await make('/api/v1/namespaces/elsewhere/configmaps', {
    metadata: { name: 'near', ownerReferences: [ownedBy(owner)] },
  });
  const dependent = await map('abroad', [ownedBy(owner)]);
  await gone(`${MAPS}/abroad`);
  const events = `/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid=${dependent.metadata.uid}`;
  await vi.waitFor(async () => {
    const { json } = await cluster.request('GET', events);
    expect(json.items).toMatchObject([
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef [v1/ConfigMap, namespace: default, name: far, uid: ${owner.metadata.uid}] does not exist in namespace "default"`,
      },
    ]);
  }, PATIENCE);
  expect(await read('/api/v1/namespaces/elsewhere/configmaps/near')).toBeDefined();
});

test('a foreground deletion goes on after the server was started again, and so does a background one', {
  tags: 'long',
}, async () => {
  const owner = await map('left');
  // What a finalizer holds is still there when the server is.
  await map('held', [ownedBy(owner)], { finalizers: ['example.com/hold'] });
  await map('beside', [ownedBy(await map('short'))], { finalizers: ['example.com/hold'] });
  await cluster.request('DELETE', `${MAPS}/left`, { propagationPolicy: 'Foreground' });
  await vi.waitFor(async () => {
    expect((await read(`${MAPS}/held`))?.metadata.deletionTimestamp).toBeDefined();
  }, PATIENCE);
  await cluster.request('DELETE', `${MAPS}/short`);
  await cluster.stop();
  await cluster.start();
  expect((await read(`${MAPS}/left`))?.metadata.finalizers).toEqual(['foregroundDeletion']);
  const events = follow(MAPS);
  const release = { metadata: { finalizers: null } };
  const merge = { 'content-type': 'application/merge-patch+json' };
  for (const name of ['held', 'beside']) {
    await vi.waitFor(
      async () => expect((await read(`${MAPS}/${name}`))?.metadata.deletionTimestamp).toBeDefined(),
      PATIENCE,
    );
    await cluster.request('PATCH', `${MAPS}/${name}`, release, merge);
  }
  await gone(`${MAPS}/left`);
  await gone(`${MAPS}/beside`);
  const lines = events.lines();
  expect(lines.indexOf('DELETED held')).toBeLessThan(lines.indexOf('DELETED left'));
  events.stop();
});
