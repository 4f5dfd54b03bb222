// @module-tag long
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Cluster, startCluster, type Watch } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** A control plane changes its version while clients read and write: the next server starts, then the one before it ends. */

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  await database.drop();
});

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CLAIMS = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

const emulate = (version: string): Promise<Cluster> =>
  startCluster(database.url, [`--emulated-version=${version}`]);

/** Sends a request that must succeed, and answers the object. */
async function sent(
  server: Cluster,
  ...request: Parameters<Cluster['request']>
): Promise<Awaited<ReturnType<Cluster['request']>>['json']> {
  const { code, text, json } = await server.request(...request);
  expect(code, `${request[0]} ${request[1]}: ${text}`).toBeLessThan(300);
  return json;
}

async function kubectl33(server: Cluster, args: string, input?: string): Promise<string> {
  const result = await server.kubectl33(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

/** A client that follows config maps from a revision on, and goes on at another server when its own ends. */
class Follower {
  readonly #earlier: Watch['events'] = [];
  readonly #from: string;
  #watch: Watch;

  constructor(server: Cluster, from: string) {
    this.#from = from;
    this.#watch = this.#begin(server);
  }

  get events(): Watch['events'] {
    return [...this.#earlier, ...this.#watch.events];
  }

  get names(): string[] {
    return this.events.map(({ object }) => object.metadata.name);
  }

  reached(count: number): Promise<void> {
    return this.#watch.reached(count - this.#earlier.length);
  }

  /** After the end of its server. */
  async goOnAt(server: Cluster): Promise<void> {
    await this.#watch.ended;
    this.#earlier.push(...this.#watch.events);
    this.#watch = this.#begin(server);
  }

  #begin(server: Cluster): Watch {
    const last = this.#earlier.at(-1)?.object.metadata.resourceVersion ?? this.#from;
    return server.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=${last}`);
  }
}

interface Written {
  readonly names: readonly string[];
  /** A client that leaves a server loses the answers that it waits for: those config maps are there or not. */
  readonly unanswered: readonly string[];
}

interface Load {
  /** Does not wait for what the writer does not bring about because it failed. */
  during<Result>(work: Promise<Result>): Promise<Result>;
  stop(): Promise<Written>;
}

/** Creates config maps, and labels a pod, through the servers in turn until `stop`. */
function writeSteadily(servers: readonly Cluster[]): Load {
  const names: string[] = [];
  const unanswered: string[] = [];
  let isOver = false;
  const run = async (): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const name = `map-${n}`;
      const server = servers[n % servers.length];
      if (server === undefined) throw new Error('there is no server');
      const made = await server.request('POST', CONFIG_MAPS, { metadata: { name } }).catch(() => undefined);
      if (made?.code === 201) names.push(name);
      else if (made === undefined) unanswered.push(name);
      else throw new Error(`a config map was refused: ${made.text}`);
      const labels = { metadata: { labels: { n: name } } };
      await server.request('PATCH', `${PODS}/rolled`, labels, MERGE).catch(() => undefined);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const running = run();
  running.catch(() => {});
  return {
    during: (work) => Promise.race([work, running.then(() => work)]),
    stop: async () => {
      isOver = true;
      await running;
      return { names, unanswered };
    },
  };
}

/** The servers of a control plane, of which one is left after each change of version. */
interface ControlPlane extends AsyncDisposable {
  readonly server: Cluster;
  readonly load: Load;
  readonly followers: readonly Follower[];
  roll(version: string): Promise<void>;
}

async function startControlPlane(version: string): Promise<ControlPlane> {
  let server = await emulate(version);
  const { resourceVersion } = (await sent(server, 'GET', CONFIG_MAPS)).metadata;
  const servers = [server];
  const load = writeSteadily(servers);
  const followers = [new Follower(server, resourceVersion)];
  return {
    get server() {
      return server;
    },
    load,
    followers,
    roll: async (next) => {
      const before = server;
      server = await emulate(next);
      servers.push(server);
      followers.push(new Follower(server, resourceVersion));
      // Both take writes, and a watch of each has these of both.
      const written = followers[0]?.names.length ?? 0;
      for (const follower of followers) await load.during(follower.reached(written + 6));
      servers.shift();
      await before.stop();
      for (const follower of followers.slice(0, -1)) await follower.goOnAt(server);
    },
    [Symbol.asyncDispose]: async () => {
      await load.stop().catch(() => {});
      for (const one of servers) await one[Symbol.asyncDispose]();
    },
  };
}

const POD = {
  metadata: { name: 'rolled' },
  spec: {
    hostnameOverride: 'web.example.com',
    containers: [
      {
        ...{ name: 'c', image: 'i', restartPolicy: 'Never' },
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
      },
    ],
  },
};

test('a control plane goes from 1.31 to 1.36 and back to 1.33 under load, and watchers miss nothing', async () => {
  await using plane = await startControlPlane('1.31');
  const { load, followers } = plane;
  await plane.roll('1.36');
  await sent(plane.server, 'POST', PODS, POD);
  const claimOf = (name: string, exactly: JsonObject): JsonObject => ({
    metadata: { name },
    spec: { devices: { requests: [{ name: 'a', exactly }] } },
  });
  const exactly = { deviceClassName: 'a.example.com' };
  await sent(plane.server, 'POST', CLAIMS, claimOf('rolled', exactly));
  const asAdmin = claimOf('admin', { ...exactly, adminAccess: true });
  expect((await plane.server.request('POST', CLAIMS, asAdmin)).code).toBe(422);
  await plane.roll('1.33');
  await kubectl33(plane.server, 'label pod rolled by=1.33');
  const { names, unanswered } = await load.stop();
  const isSure = (name: string): boolean => !unanswered.includes(name);
  for (const follower of followers) await expect.poll(() => follower.names.filter(isSure)).toEqual(names);
  // Whether an unanswered write took place, watchers agree on.
  for (const { names: seen } of followers) expect(seen).toEqual(followers[0]?.names);
  const { items } = await sent(plane.server, 'GET', CONFIG_MAPS);
  const listed = new Set(items.map(({ metadata }: { metadata: JsonObject }) => metadata.name));
  expect(names.filter((name) => !listed.has(name))).toEqual([]);
  const { metadata, spec } = await sent(plane.server, 'GET', `${PODS}/rolled`);
  expect(metadata.labels).toMatchObject({ by: '1.33', n: expect.any(String) });
  expect(spec).toMatchObject({
    hostnameOverride: 'web.example.com',
    containers: [{ restartPolicy: 'Never' }],
  });
  expect(spec.containers[0].restartPolicyRules).toHaveLength(1);
  expect((await plane.server.request('GET', CLAIMS)).code).toBe(404);

  // What 1.33 did not serve is still there, and in each of its forms.
  await using again = await startCluster(database.url, [
    '--emulated-version=1.36',
    '--runtime-config=resource.k8s.io/v1beta1',
  ]);
  const [request] = (await sent(again, 'GET', `${CLAIMS}/rolled`)).spec.devices.requests;
  expect(request).toMatchObject({ exactly: { deviceClassName: 'a.example.com', count: 1 } });
  const beta = `${CLAIMS.replace('/v1/', '/v1beta1/')}/rolled`;
  const [older] = (await sent(again, 'GET', beta)).spec.devices.requests;
  expect(older).toMatchObject({ deviceClassName: 'a.example.com' });
});

const deployment = (image: string): JsonObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'applied' } },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image }] },
    },
  },
});

/** The fields of each owner that applies. */
const appliedBy = (object: { metadata: { managedFields: JsonObject[] } }): JsonObject =>
  Object.fromEntries(
    object.metadata.managedFields
      .filter(({ operation, subresource }) => operation === 'Apply' && subresource === undefined)
      .map(({ manager, fieldsV1 }) => [String(manager), fieldsV1]),
  );

const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced' },
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } },
              status: { type: 'object', properties: { by: { type: 'string' } } },
            },
          },
        },
      },
    ],
  },
};

const widget = (name: string, size?: number): string =>
  JSON.stringify({
    ...{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } },
    spec: size === undefined ? {} : { size },
  });

test('owners of fields, statuses and custom resources go from 1.31 to 1.36 and back to 1.33', async () => {
  await using plane = await startControlPlane('1.31');
  const applied = `${DEPLOYMENTS}/applied`;
  const apply = (manager: string, body: JsonObject): Promise<JsonObject> =>
    sent(plane.server, 'PATCH', `${applied}?fieldManager=${manager}`, body, APPLY);
  const first = await apply('owner', deployment('i'));
  const owned = appliedBy(first as never).owner;
  await sent(plane.server, 'POST', DEFINITIONS, definition);
  await expect.poll(async () => (await plane.server.request('GET', WIDGETS)).code).toBe(200);
  await kubectl33(plane.server, 'apply -f -', widget('oldest'));

  await plane.roll('1.36');
  const spec = { hostnameOverride: 'web.example.com' };
  const { metadata: _, ...newer } = deployment('i');
  await apply('newer', { ...newer, metadata: { name: 'applied' }, spec: { template: { spec } } });
  const terminating = { status: { replicas: 2, terminatingReplicas: 1 } };
  await sent(plane.server, 'PATCH', `${applied}/status`, terminating, MERGE);
  const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } };
  const pod = {
    metadata: { name: 'reported' },
    spec: { resources, containers: [{ name: 'c', image: 'i' }] },
  };
  await sent(plane.server, 'POST', PODS, pod);
  const reported = { phase: 'Pending', observedGeneration: 1, resources, allocatedResources: { cpu: '1' } };
  await sent(plane.server, 'PATCH', `${PODS}/reported/status`, { status: reported }, MERGE);
  expect(await kubectl33(plane.server, 'get widget oldest -o jsonpath={.spec.size}')).toBe('1');
  await kubectl33(plane.server, 'apply -f -', widget('oldest', 2));
  await kubectl33(plane.server, 'apply --server-side -f -', widget('newest', 3));

  await plane.roll('1.33');
  const again = await apply('owner', deployment('i'));
  expect(again).toMatchObject({ metadata: { generation: 2 }, spec: { template: { spec } } });
  const owners = {
    owner: owned,
    newer: { 'f:spec': { 'f:template': { 'f:spec': { 'f:hostnameOverride': {} } } } },
  };
  expect(appliedBy(again as never)).toEqual(owners);
  const changed = await apply('owner', deployment('j'));
  expect(changed).toMatchObject({ spec: { template: { spec } }, status: terminating.status });
  expect(appliedBy(changed as never)).toEqual(owners);
  await kubectl33(
    plane.server,
    'patch deployment applied --subresource=status --type=merge -p {"status":{"replicas":3}}',
  );
  expect((await sent(plane.server, 'GET', applied)).status).toEqual({ replicas: 3, terminatingReplicas: 1 });
  const status = { phase: 'Running', observedGeneration: 2 };
  const { metadata } = await sent(plane.server, 'GET', `${PODS}/reported`);
  const { resourceVersion } = metadata;
  const running = { metadata: { name: 'reported', resourceVersion }, status };
  await sent(plane.server, 'PUT', `${PODS}/reported/status`, running);
  expect((await sent(plane.server, 'GET', `${PODS}/reported`)).status).toMatchObject({
    ...reported,
    ...status,
  });
  await kubectl33(
    plane.server,
    'patch widget oldest --subresource=status --type=merge -p {"status":{"by":"1.33"}}',
  );
  await kubectl33(plane.server, 'apply -f -', widget('oldest', 4));
  await kubectl33(plane.server, 'apply --server-side -f -', widget('newest', 5));
  const widgets = '{range .items[*]}{.metadata.name}={.spec.size}{.status.by},{end}';
  expect(await kubectl33(plane.server, `get widgets -o 'jsonpath=${widgets}'`)).toBe(
    'newest=5,oldest=41.33,',
  );
  await plane.load.stop();

  await using fresh = await emulate('1.36');
  expect(await kubectl33(fresh, `get widgets -o 'jsonpath=${widgets}'`)).toBe('newest=5,oldest=41.33,');
  const last = await sent(fresh, 'GET', applied);
  expect(appliedBy(last)).toEqual(owners);
  expect(last.spec.template.spec).toMatchObject({ ...spec, containers: [{ image: 'j' }] });
});
