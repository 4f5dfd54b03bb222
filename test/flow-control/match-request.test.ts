import { expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { parseFlowSchema } from '../../src/flow-control/flow-configuration.ts';
import { Levels } from '../../src/flow-control/levels.ts';
import { createMatcher, createRoutes, distinguish, findRoute } from '../../src/flow-control/match-request.ts';
import { freshLevels, freshSchemas, ownCounters, type RequestInit, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

const createLevels = (): Levels =>
  new Levels({
    ...{ clock: new TurnedClock(), metrics: NO_METRICS, serverSeats: 600 },
    counters: ownCounters().seats,
  });

function schemaOf(rule: JsonObject): ApiObject {
  const spec = { priorityLevelConfiguration: { name: 'x' }, rules: [rule] };
  return { kind: 'FlowSchema', apiVersion: 'flowcontrol.apiserver.k8s.io/v1', metadata: { name: 'x' }, spec };
}

const matches = (rule: JsonObject, init: RequestInit, target = {}): boolean =>
  createMatcher(parseFlowSchema(schemaOf(rule)))(toRequest(init, target));

const ALL = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const account = (namespace: string, name: string) => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace, name },
});

test.each<[string, JsonObject, RequestInit, boolean]>([
  ['a user by name', { kind: 'User', user: { name: 'alice' } }, { user: 'alice' }, true],
  ['another user', { kind: 'User', user: { name: 'alice' } }, { user: 'bob' }, false],
  ['every user', { kind: 'User', user: { name: '*' } }, { user: 'bob' }, true],
  ['a group', { kind: 'Group', group: { name: 'dev' } }, { groups: ['ops', 'dev'] }, true],
  ['another group', { kind: 'Group', group: { name: 'dev' } }, { groups: ['ops'] }, false],
  ['every group, for who has none', { kind: 'Group', group: { name: '*' } }, { groups: [] }, true],
  ['a service account', account('ns', 'sa'), { user: 'system:serviceaccount:ns:sa' }, true],
  ['one of another namespace', account('ns', 'sa'), { user: 'system:serviceaccount:other:sa' }, false],
  ['all of a namespace', account('ns', '*'), { user: 'system:serviceaccount:ns:any' }, true],
  ['a namespace that begins alike', account('ns', '*'), { user: 'system:serviceaccount:ns2:any' }, false],
  ['a subject of no known kind', { kind: 'Robot', user: { name: '*' } }, {}, false],
])('subjects: %s', (_, subject, init, expected) => {
  expect(matches({ subjects: [subject], ...ALL }, init)).toBe(expected);
});

const resource = (rule: JsonObject): JsonObject => ({
  subjects: [{ kind: 'User', user: { name: '*' } }],
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], ...rule }],
});

test.each<[string, JsonObject, RequestInit, object, boolean]>([
  ['a verb', { verbs: ['get', 'list'] }, { verb: 'list' }, {}, true],
  ['another verb', { verbs: ['get'] }, { verb: 'list' }, {}, false],
  ['a group', { apiGroups: ['apps'] }, {}, { group: 'apps' }, true],
  ['the core group', { apiGroups: [''] }, {}, {}, true],
  [
    'a group in the other dialect',
    { apiGroups: ['coordination.cluster.io'] },
    {},
    { group: 'coordination.k8s.io' },
    true,
  ],
  ['a resource', { resources: ['pods'] }, {}, { resource: 'pods' }, true],
  [
    'a subresource is not its resource',
    { resources: ['pods'] },
    {},
    { resource: 'pods', subresource: 'status' },
    false,
  ],
  ['a subresource', { resources: ['pods/status'] }, {}, { resource: 'pods', subresource: 'status' }, true],
  ['everything includes subresources', {}, {}, { resource: 'pods', subresource: 'status' }, true],
  ['a namespace', { namespaces: ['a', 'b'] }, {}, { namespace: 'b' }, true],
  ['another namespace', { namespaces: ['a'] }, {}, { namespace: 'b' }, false],
  ['all namespaces are not the cluster', {}, {}, { namespace: '' }, false],
  ['the cluster', { clusterScope: true, namespaces: [] }, {}, { namespace: '' }, true],
  ['the cluster is not its namespaces', { clusterScope: true, namespaces: [] }, {}, {}, false],
  ['a path is no resource', {}, { path: '/version' }, {}, false],
])('resource rules: %s', (_, rule, init, target, expected) => {
  expect(matches(resource(rule), init, target)).toBe(expected);
});

test.each<[string, string[], string, boolean]>([
  ['itself', ['/version'], '/version', true],
  ['another', ['/version'], '/healthz', false],
  ['what is below it', ['/healthz'], '/healthz/ping', true],
  ['what is below a star', ['/healthz/*'], '/healthz/ping', true],
  ['what only begins alike', ['/healthz'], '/healthzzz', false],
  ['everything', ['*'], '/anything', true],
])('a path covers %s', (_, urls, path, expected) => {
  const rule = {
    subjects: [{ kind: 'User', user: { name: '*' } }],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: urls }],
  };
  expect(matches(rule, { path, verb: 'get' })).toBe(expected);
  expect(matches(rule, { path, verb: 'post' })).toBe(false);
});

function freshRoutes() {
  const levels = createLevels();
  levels.configure(freshLevels());
  return createRoutes(freshSchemas(), levels.current, NO_METRICS);
}

const NODE = { user: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const MANAGER = { user: 'system:kube-controller-manager' };
const SYSTEM = {
  user: 'system:serviceaccount:kube-system:endpoint-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};
const WORKLOAD = {
  user: 'system:serviceaccount:default:app',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
};
const LEASE = { group: 'coordination.k8s.io', resource: 'leases' };

test.each<[string, RequestInit, object, string]>([
  ['an administrator', { groups: ['system:masters', 'system:authenticated'] }, {}, 'exempt → exempt'],
  [
    'a probe',
    { user: 'system:anonymous', groups: ['system:unauthenticated'], path: '/readyz' },
    {},
    'probes → exempt',
  ],
  ['a leader', { ...MANAGER, verb: 'update' }, LEASE, 'system-leader-election → leader-election'],
  ['a list of leases', { ...MANAGER, verb: 'list' }, LEASE, 'kube-controller-manager → workload-high'],
  [
    'endpoints',
    { ...SYSTEM, verb: 'update' },
    { resource: 'endpoints' },
    'endpoint-controller → workload-high',
  ],
  ['a system account', { ...SYSTEM, verb: 'list' }, {}, 'kube-system-service-accounts → workload-high'],
  ['a config map of one', { ...SYSTEM, verb: 'get' }, {}, 'workload-leader-election → leader-election'],
  [
    'a node',
    { ...NODE, verb: 'patch' },
    { resource: 'nodes', subresource: 'status', namespace: '' },
    'system-node-high → node-high',
  ],
  ['a pod of a node', { ...NODE, verb: 'patch' }, { resource: 'pods' }, 'system-nodes → system'],
  ['a workload', WORKLOAD, {}, 'service-accounts → workload-low'],
  ['a person', {}, {}, 'global-default → global-default'],
  [
    'an anonymous client',
    { user: 'system:anonymous', groups: ['system:unauthenticated'] },
    {},
    'global-default → global-default',
  ],
  ['who is in no group', { groups: [] }, {}, 'catch-all → catch-all'],
])('a fresh cluster sends %s to its level', (_, init, target, expected) => {
  const { schema, level } = findRoute(freshRoutes(), toRequest(init, target));
  expect(`${schema.name} → ${level.config.name}`).toBe(expected);
});

test('flows are separated by user or by namespace, as the schema says, and only where there are queues', () => {
  const routes = freshRoutes();
  const flowOf = (init: RequestInit, target = {}): string => {
    const request = toRequest(init, target);
    return distinguish(findRoute(routes, request), request);
  };
  expect(flowOf({ user: 'alice' })).toBe('alice');
  expect(flowOf({ ...MANAGER, verb: 'list' }, { namespace: 'ns' })).toBe('ns');
  expect(flowOf({ groups: [] })).toBe('');
  expect(flowOf({ groups: ['system:masters'] })).toBe('');
});

test('a schema whose level does not exist is passed over; of two with the same precedence the name decides', () => {
  const levels = createLevels();
  levels.configure(freshLevels());
  const everyone = (name: string, level: string, precedence: number) => {
    const schema = schemaOf({ subjects: [{ kind: 'User', user: { name: '*' } }], ...ALL });
    const spec = {
      ...(schema.spec as JsonObject),
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
    };
    return parseFlowSchema({ ...schema, metadata: { name }, spec });
  };
  const schemas = [
    everyone('dangling', 'nowhere', 1),
    everyone('b', 'system', 50),
    everyone('a', 'system', 50),
  ];
  const routes = createRoutes([...freshSchemas(), ...schemas], levels.current, NO_METRICS);
  expect(findRoute(routes, toRequest({})).schema.name).toBe('a');
  expect(routes.map(({ schema }) => schema.name)).not.toContain('dangling');
});

test('before any object exists, administrators are exempt and all others share the catch-all', () => {
  const levels = createLevels();
  levels.configure([]);
  const routes = createRoutes([], levels.current, NO_METRICS);
  expect(findRoute(routes, toRequest({ groups: ['system:masters'] })).schema.name).toBe('exempt');
  expect(findRoute(routes, toRequest({})).schema.name).toBe('catch-all');
});
