// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../../../src/api/types/apiextensions/v1.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Two servers give out the names of definitions. */

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

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (index: number): Cluster => servers[index % servers.length] as Cluster;

async function create(definition: CustomResourceDefinition, server = at(0)): Promise<void> {
  const { code, text } = await server.request('POST', DEFINITIONS, definition);
  expect(code, text).toBe(201);
}

const read = async (name: string, server = at(0)): Promise<CustomResourceDefinition> =>
  (await server.request('GET', `${DEFINITIONS}/${name}`)).json;

/** Type, status, reason and message of each condition. */
const shown = ({ status }: CustomResourceDefinition): string[] =>
  (status?.conditions ?? []).map(
    ({ type, status: value, reason, message }: CustomResourceDefinitionCondition) =>
      `${type}=${value} ${reason}: ${message}`,
  );

const ACCEPTED = ['NamesAccepted=True NoConflicts: no conflicts found'];
const SERVED = [...ACCEPTED, 'Established=True InitialNamesAccepted: the initial names have been accepted'];

const untilShown = (name: string, conditions: string[], server = at(0)): Promise<void> =>
  vi.waitFor(async () => expect(shown(await read(name, server))).toEqual(conditions), PATIENCE);

test('a new definition gets its names, and is established on every server', async () => {
  await create(definitionOf({ plural: 'widgets', kind: 'Widget', shortNames: ['wd'] }));
  for (const server of servers) await untilShown('widgets.stable.example.com', SERVED, server);
  const { status, metadata } = await read('widgets.stable.example.com', at(1));
  expect(status?.acceptedNames).toEqual({
    plural: 'widgets',
    singular: 'widget',
    shortNames: ['wd'],
    kind: 'Widget',
    listKind: 'WidgetList',
  });
  expect(status?.storedVersions).toEqual(['v1']);
  expect(metadata.generation).toBe(1);
  for (const { lastTransitionTime } of status?.conditions ?? [])
    expect(lastTransitionTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('a definition is established once: the servers do not write its status again', async () => {
  const name = 'quiets.stable.example.com';
  await create(definitionOf({ plural: 'quiets', kind: 'Quiet' }));
  for (const server of servers) await untilShown(name, SERVED, server);
  await create(definitionOf({ plural: 'louds', kind: 'Loud' }));
  await untilShown('louds.stable.example.com', SERVED);
  const rows = await database.query<{ count: string }>(
    `SELECT count(*) FROM revisions WHERE name = '${name}'`,
  );
  expect(rows[0]?.count).toBe('2');
});

test('a name that another definition has is in conflict until that one is gone', async () => {
  await create(definitionOf({ plural: 'firsts', kind: 'Same', shortNames: ['sm', 'sn'] }));
  await untilShown('firsts.stable.example.com', SERVED);
  await create(
    definitionOf({ plural: 'seconds', kind: 'Same', singular: 'second', shortNames: ['sn', 'sm'] }),
    at(1),
  );
  await untilShown('seconds.stable.example.com', [
    'NamesAccepted=False ListKindConflict: "SameList" is already in use',
    'Established=False NotAccepted: not all names are accepted',
  ]);
  const { status } = await read('seconds.stable.example.com');
  expect(status?.acceptedNames).toEqual({ plural: 'seconds', singular: 'second', kind: '', listKind: '' });
  await at(1).request('DELETE', `${DEFINITIONS}/firsts.stable.example.com`);
  await untilShown('seconds.stable.example.com', SERVED);
});

test('names of another group are no conflict', async () => {
  await create(
    definitionOf({ group: 'other.example.com', plural: 'widgets', kind: 'Widget', shortNames: ['wd'] }),
  );
  await untilShown('widgets.other.example.com', SERVED);
});

test('names of built-in resources of the group are in conflict', async () => {
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
  const group = 'networking.k8s.io';
  await create(definitionOf({ group, plural: 'ings', kind: 'Ingress', annotations }));
  await untilShown('ings.networking.k8s.io', [
    'NamesAccepted=False ListKindConflict: "IngressList" is already in use',
    'Established=False NotAccepted: not all names are accepted',
    'KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation: not approved: "unapproved, a test"',
  ]);
});

test('of two definitions made at once on two servers one has the name', async () => {
  const names = Array.from({ length: 20 }, (_, n) => n);
  await Promise.all(
    names.flatMap((n) => [
      create(definitionOf({ plural: `lefts${n}`, kind: `Twin${n}` }), at(0)),
      create(definitionOf({ plural: `rights${n}`, kind: `Twin${n}` }), at(1)),
    ]),
  );
  for (const n of names) {
    const pair = [`lefts${n}.stable.example.com`, `rights${n}.stable.example.com`];
    await vi.waitFor(async () => {
      const both = await Promise.all(pair.map((name) => read(name)));
      const holders = both.filter(({ status }) => status?.acceptedNames?.kind === `Twin${n}`);
      const losers = both.filter((one) => shown(one)[0]?.startsWith('NamesAccepted=False'));
      expect([holders.length, losers.length]).toEqual([1, 1]);
    }, PATIENCE);
  }
});

test('a definition of a protected group needs an approval, and says whether it has one', async () => {
  const protectedOne = definitionOf({ group: 'example.k8s.io', plural: 'guards', kind: 'Guard' });
  const refused = await at(0).request('POST', DEFINITIONS, protectedOne);
  expect(refused.code).toBe(422);
  expect(refused.json.message).toContain(
    'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  );
  const url = 'https://github.com/kubernetes/enhancements/pull/1111';
  await create(
    definitionOf({
      ...{ group: 'example.k8s.io', plural: 'guards', kind: 'Guard' },
      annotations: { 'api-approved.kubernetes.io': url },
    }),
  );
  await untilShown('guards.example.k8s.io', [
    ...SERVED,
    `KubernetesAPIApprovalPolicyConformant=True ApprovedAnnotation: approved in ${url}`,
  ]);
});

test('a deletion marks the definition, and ends it when there is nothing to delete', async () => {
  const name = 'briefs.stable.example.com';
  await create(definitionOf({ plural: 'briefs', kind: 'Brief' }));
  await untilShown(name, SERVED);
  const watch = at(1).watch(`${DEFINITIONS}?watch=1&fieldSelector=metadata.name=${name}`);
  await watch.reached(1);
  const { code, json } = await at(0).request('DELETE', `${DEFINITIONS}/${name}`);
  expect(code).toBe(200);
  expect(json.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  expect(json.metadata.deletionTimestamp).toBeDefined();
  expect(json.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
  expect(json.metadata.generation).toBe(1);
  expect(shown(json)).toEqual([
    ...SERVED,
    'Terminating=True InstanceDeletionPending: CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  ]);
  await watch.reached(4);
  watch.stop();
  const last = watch.events.map(({ type, object }) => [type, shown(object as CustomResourceDefinition)[2]]);
  expect(last).toEqual([
    ['ADDED', undefined],
    ['MODIFIED', expect.stringContaining('InstanceDeletionPending')],
    ['MODIFIED', 'Terminating=True InstanceDeletionInProgress: CustomResource deletion is in progress'],
    ['DELETED', 'Terminating=False InstanceDeletionCompleted: removed all instances'],
  ]);
});

test('a dry run of a deletion marks nothing', async () => {
  const name = 'keeps.stable.example.com';
  await create(definitionOf({ plural: 'keeps', kind: 'Keep' }));
  await untilShown(name, SERVED);
  const { json } = await at(0).request('DELETE', `${DEFINITIONS}/${name}?dryRun=All`);
  expect(json.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
  expect((await read(name)).metadata).not.toHaveProperty('deletionTimestamp');
});

test('a definition that never got its names goes without a look at objects', async () => {
  await create(definitionOf({ plural: 'holders', kind: 'Held' }));
  await untilShown('holders.stable.example.com', SERVED);
  await create(definitionOf({ plural: 'waiters', kind: 'Held' }));
  const name = 'waiters.stable.example.com';
  await vi.waitFor(async () => expect(shown(await read(name))[1]).toContain('NotAccepted'), PATIENCE);
  const watch = at(1).watch(`${DEFINITIONS}?watch=1&fieldSelector=metadata.name=${name}`);
  await watch.reached(1);
  await at(0).request('DELETE', `${DEFINITIONS}/${name}`);
  await watch.reached(4);
  watch.stop();
  expect(shown(watch.events[3]?.object as CustomResourceDefinition)[2]).toBe(
    'Terminating=False NeverEstablished: resource was never established',
  );
});
