// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/types/apiextensions/v1.ts';
import { allow, base64 } from '../../kit/admission-webhook.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Definitions end with their objects, on two servers. */

let database: TestDatabase;
let servers: Cluster[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url), await startCluster(database.url)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

const GROUP = 'stable.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (index: number): Cluster => servers[index % servers.length] as Cluster;
const objectsOf = (plural: string, namespace = 'default'): string =>
  `/apis/${GROUP}/v1/namespaces/${namespace}/${plural}`;

const read = async (plural: string): Promise<CustomResourceDefinition> =>
  (await at(0).request('GET', `${DEFINITIONS}/${plural}.${GROUP}`)).json;

const reasonOf = ({ status }: CustomResourceDefinition, type: string): string | undefined =>
  status?.conditions?.find((condition) => condition.type === type)?.reason;

/** Defines a resource, and waits until both servers serve it. */
async function define(plural: string, kind: string): Promise<void> {
  const { code, text } = await at(0).request('POST', DEFINITIONS, definitionOf({ plural, kind }));
  expect(code, text).toBe(201);
  for (const server of servers)
    await vi.waitFor(async () => {
      expect((await server.request('GET', objectsOf(plural))).code).toBe(200);
    }, PATIENCE);
}

async function create(
  server: Cluster,
  plural: string,
  kind: string,
  name: string,
  metadata = {},
): Promise<number> {
  const object = { apiVersion: `${GROUP}/v1`, kind, metadata: { name, ...metadata }, spec: { size: 1 } };
  return (await server.request('POST', objectsOf(plural), object)).code;
}

const end = (plural: string, server = at(0)) => server.request('DELETE', `${DEFINITIONS}/${plural}.${GROUP}`);

const untilGone = (plural: string): Promise<void> =>
  vi.waitFor(async () => {
    expect((await at(0).request('GET', `${DEFINITIONS}/${plural}.${GROUP}`)).code).toBe(404);
  }, PATIENCE);

async function countStored(plural: string): Promise<number> {
  const rows = await database.query<{ count: string }>(
    `SELECT count(*) FROM current_objects WHERE resource = '${plural}'`,
  );
  return Number(rows[0]?.count);
}

test('a definition ends with all of its objects, and its paths with it', async () => {
  await define('widgets', 'Widget');
  const names = Array.from({ length: 600 }, (_, n) => `w${n}`);
  while (names.length > 0) {
    const codes = await Promise.all(
      names.splice(0, 100).map((name, n) => create(at(n), 'widgets', 'Widget', name)),
    );
    expect(new Set(codes)).toEqual(new Set([201]));
  }
  expect(await countStored('widgets')).toBe(600);
  const watch = at(1).watch(`${objectsOf('widgets')}?watch=1`);
  await watch.reached(600);
  await end('widgets');
  await watch.ended;
  expect(watch.events).toHaveLength(1200);
  expect(watch.events.slice(600, 1200).every(({ type }) => type === 'DELETED')).toBe(true);
  await untilGone('widgets');
  expect(await countStored('widgets')).toBe(0);
  for (const server of servers)
    await vi.waitFor(async () => {
      expect((await server.request('GET', objectsOf('widgets'))).code).toBe(404);
    }, PATIENCE);
});

test('while objects are held by finalizers the definition stays, takes no new ones, and keeps its names', async () => {
  await define('holds', 'Hold');
  expect(await create(at(0), 'holds', 'Hold', 'held', { finalizers: ['example.com/wait'] })).toBe(201);
  expect(await create(at(0), 'holds', 'Hold', 'free')).toBe(201);
  await end('holds');
  for (const server of servers)
    await vi.waitFor(async () => {
      const object = { apiVersion: `${GROUP}/v1`, kind: 'Hold', metadata: { name: 'late' } };
      const { code, json } = await server.request('POST', objectsOf('holds'), object);
      expect([code, json.reason, json.message]).toEqual([
        ...[405, 'MethodNotAllowed'],
        'create not allowed while custom resource definition is terminating',
      ]);
    }, PATIENCE);
  await vi.waitFor(async () => {
    const { json } = await at(1).request('GET', objectsOf('holds'));
    expect(json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['held']);
  }, PATIENCE);
  expect(reasonOf(await read('holds'), 'Terminating')).toBe('InstanceDeletionInProgress');
  const other = { ...definitionOf({ plural: 'others', kind: 'Hold' }) };
  await at(0).request('POST', DEFINITIONS, other);
  await vi.waitFor(async () => {
    expect(reasonOf(await read('others'), 'NamesAccepted')).toBe('ListKindConflict');
  }, PATIENCE);
  const patch = { metadata: { finalizers: null } };
  const type = { 'content-type': 'application/merge-patch+json' };
  expect((await at(1).request('PATCH', `${objectsOf('holds')}/held`, patch, type)).code).toBe(200);
  await untilGone('holds');
  await vi.waitFor(async () => {
    expect(reasonOf(await read('others'), 'Established')).toBe('InitialNamesAccepted');
  }, PATIENCE);
});

test('objects of versions that are not served go, too', async () => {
  await define('silents', 'Silent');
  expect(await create(at(0), 'silents', 'Silent', 'one')).toBe(201);
  const definition = await read('silents');
  const [version] = definition.spec?.versions ?? [];
  const hidden = { ...definition.spec, versions: [{ ...version, served: false }] };
  const { code, text } = await at(0).request('PUT', `${DEFINITIONS}/silents.${GROUP}`, {
    ...definition,
    spec: hidden,
  });
  expect(code, text).toBe(200);
  await end('silents');
  await untilGone('silents');
  expect(await countStored('silents')).toBe(0);
});

test('a definition made again right away begins with no objects', async () => {
  await define('agains', 'Again');
  for (let round = 0; round < 5; round += 1) {
    expect(await create(at(round), 'agains', 'Again', `one${round}`)).toBe(201);
    await end('agains', at(round + 1));
    await untilGone('agains');
    await define('agains', 'Again');
    const { json } = await at(round).request('GET', objectsOf('agains'));
    expect(json.items).toEqual([]);
  }
});

test('an end that a crash of all servers interrupts goes on after the restart', async () => {
  await define('crashes', 'Crash');
  const names = Array.from({ length: 400 }, (_, n) => `c${n}`);
  await Promise.all(names.map((name, n) => create(at(n), 'crashes', 'Crash', name)));
  expect(await create(at(0), 'crashes', 'Crash', 'held', { finalizers: ['example.com/wait'] })).toBe(201);
  await end('crashes');
  await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(servers.map((server) => server.start()));
  await vi.waitFor(async () => expect(await countStored('crashes')).toBe(1), PATIENCE);
  const type = { 'content-type': 'application/merge-patch+json' };
  const patch = { metadata: { finalizers: null } };
  await vi.waitFor(async () => {
    expect((await at(1).request('PATCH', `${objectsOf('crashes')}/held`, patch, type)).code).toBe(200);
  }, PATIENCE);
  await untilGone('crashes');
});

test('an object whose creation began before the end and is stored after it does not stay', async () => {
  await define('lates', 'Late');
  await using webhook = await startWebhook();
  const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const { code } = await at(1).request('POST', webhooks, {
    metadata: { name: 'slow' },
    webhooks: [
      {
        name: 'slow.example.com',
        clientConfig: { url: webhook.url, caBundle: base64(webhook.ca) },
        rules: [{ apiGroups: [GROUP], apiVersions: ['v1'], resources: ['lates'], operations: ['CREATE'] }],
        ...{
          failurePolicy: 'Fail',
          timeoutSeconds: 30,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      },
    ],
  });
  expect(code).toBe(201);
  let isAsked = false;
  webhook.respond = (request, response, body) => {
    isAsked = true;
    allow(request, response, body);
  };
  // A configuration takes effect when the server has heard of it.
  const attempt = { apiVersion: `${GROUP}/v1`, kind: 'Late', metadata: { name: 'attempt' } };
  await vi.waitFor(async () => {
    await at(1).request('POST', `${objectsOf('lates')}?dryRun=All`, attempt);
    expect(isAsked).toBe(true);
  }, PATIENCE);
  const asked = Promise.withResolvers<() => void>();
  webhook.respond = (request, response, body) => asked.resolve(() => allow(request, response, body));
  const creation = create(at(1), 'lates', 'Late', 'late');
  const answer = await asked.promise;
  await end('lates');
  await untilGone('lates');
  answer();
  await creation;
  await vi.waitFor(async () => {
    const rows = await database.query<{ verb: string }>(
      "SELECT verb FROM revisions WHERE resource = 'lates' ORDER BY revision",
    );
    expect(rows.map(({ verb }) => verb)).toEqual(['create', 'delete']);
  }, PATIENCE);
  await at(1).request('DELETE', `${webhooks}/slow`);
});
