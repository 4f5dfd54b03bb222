import { expect, test } from 'vitest';
import { findRule, parsePolicy } from '../../src/audit/audit-policy.ts';
import { parseRequestInfo } from '../../src/pipeline/request-info.ts';
import type { UserInfo } from '../../src/request/api-request.ts';
import { ALICE } from './kit.ts';

type AuditAttributes = Parameters<typeof findRule>[1];

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const policyOf = (rules: string) => parsePolicy(`${HEAD}rules:\n${rules}`);

function attributes(line: string, user: UserInfo | undefined = ALICE): AuditAttributes {
  const [method = '', path = ''] = line.split(' ');
  const { verb, target } = parseRequestInfo(method, path, new URLSearchParams());
  return { verb, target, path, ...(user === undefined ? {} : { user }) };
}

const levelOf = (rules: string, line: string, user?: UserInfo): string =>
  findRule(policyOf(rules), attributes(line, user))?.level ?? 'no rule';

test('the first rule that matches decides, and without one nothing is recorded', () => {
  const rules = `
- {level: None, users: [bob]}
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: Request, verbs: [create]}`;
  expect(levelOf(rules, 'GET /api/v1/namespaces/a/secrets/s')).toBe('Metadata');
  expect(levelOf(rules, 'POST /api/v1/namespaces/a/secrets')).toBe('Metadata');
  expect(levelOf(rules, 'POST /api/v1/namespaces/a/pods')).toBe('Request');
  expect(levelOf(rules, 'GET /api/v1/namespaces/a/pods')).toBe('no rule');
  expect(levelOf(rules, 'POST /api/v1/namespaces/a/pods', { ...ALICE, username: 'bob' })).toBe('None');
});

test.each([
  ['pods', 'GET /api/v1/pods', true],
  ['pods', 'GET /api/v1/namespaces/a/pods/x/log', false],
  ['pods/log', 'GET /api/v1/namespaces/a/pods/x/log', true],
  ['pods/log', 'GET /api/v1/namespaces/a/pods/x', false],
  ['pods/*', 'GET /api/v1/namespaces/a/pods/x/log', true],
  ['pods/*', 'GET /api/v1/namespaces/a/pods/x', true],
  ['*/status', 'PUT /api/v1/namespaces/a/pods/x/status', true],
  ['*/status', 'PUT /api/v1/namespaces/a/pods/x', false],
  ['*', 'PUT /api/v1/namespaces/a/pods/x/status', true],
  ['*', 'GET /apis/apps/v1/deployments', false],
  ['services', 'GET /api/v1/pods', false],
])('resource %j and %s: %s', (resource, line, expected) => {
  const rules = `- {level: Metadata, resources: [{group: "", resources: ["${resource}"]}]}`;
  expect(levelOf(rules, line)).toBe(expected ? 'Metadata' : 'no rule');
});

test.each([
  ['/version', 'GET /version', true],
  ['/version', 'GET /version/', false],
  ['/logs*', 'GET /logs/kubelet.log', true],
  ['*', 'GET /openapi/v2', true],
  ['*', 'GET /api/v1/pods', false],
  ['/api*', 'GET /api', true],
])('non-resource URL %j and %s: %s', (url, line, expected) => {
  expect(levelOf(`- {level: Metadata, nonResourceURLs: ["${url}"]}`, line)).toBe(
    expected ? 'Metadata' : 'no rule',
  );
});

test('names, namespaces, groups of users and groups of the API each narrow a rule', () => {
  const named =
    '- {level: Metadata, resources: [{group: "", resources: [configmaps], resourceNames: [leader]}]}';
  expect(levelOf(named, 'GET /api/v1/namespaces/a/configmaps/leader')).toBe('Metadata');
  expect(levelOf(named, 'GET /api/v1/namespaces/a/configmaps/other')).toBe('no rule');
  const inNamespace = '- {level: Metadata, namespaces: [a, ""]}';
  expect(levelOf(inNamespace, 'GET /api/v1/namespaces/a/pods')).toBe('Metadata');
  expect(levelOf(inNamespace, 'GET /api/v1/nodes')).toBe('Metadata');
  expect(levelOf(inNamespace, 'GET /api/v1/namespaces/b/pods')).toBe('no rule');
  expect(levelOf(inNamespace, 'GET /version')).toBe('no rule');
  const groups = '- {level: Metadata, userGroups: [developers, testers]}';
  expect(levelOf(groups, 'GET /version')).toBe('Metadata');
  expect(levelOf(groups, 'GET /version', { ...ALICE, groups: [] })).toBe('no rule');
  const whole = '- {level: Metadata, resources: [{group: apps}]}';
  expect(levelOf(whole, 'GET /apis/apps/v1/namespaces/a/deployments/d/scale')).toBe('Metadata');
});

test('a caller who failed authentication matches no rule about users', () => {
  const rules =
    '- {level: Request, userGroups: [developers]}\n- {level: Request, users: [alice]}\n- {level: Metadata}';
  const { user: _, ...withoutUser } = attributes('GET /api/v1/pods');
  expect(findRule(policyOf(rules), withoutUser)?.level).toBe('Metadata');
});

test('a group may be named in either dialect', () => {
  for (const group of ['rbac.authorization.k8s.io', 'rbac.authorization.cluster.io']) {
    const rules = `- {level: Metadata, resources: [{group: ${group}}]}`;
    expect(levelOf(rules, 'GET /apis/rbac.authorization.cluster.io/v1/clusterroles')).toBe('Metadata');
    expect(levelOf(rules, 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles')).toBe('Metadata');
  }
});

test('what the policy omits everywhere is omitted by every rule; a rule may keep managed fields', () => {
  const [first, second] = parsePolicy(
    `${HEAD}omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n- {level: Metadata, omitStages: [Panic]}\n- {level: Request, omitManagedFields: false}`,
  );
  expect([...(first?.omitStages ?? [])]).toEqual(['RequestReceived', 'Panic']);
  expect(first?.omitManagedFields).toBe(true);
  expect([...(second?.omitStages ?? [])]).toEqual(['RequestReceived']);
  expect(second?.omitManagedFields).toBe(false);
});

test('JSON and the apiVersion of the other dialect are read too', () => {
  const text = JSON.stringify({
    apiVersion: 'audit.cluster.io/v1',
    kind: 'Policy',
    metadata: { name: 'x' },
    rules: [{ level: 'Metadata' }],
  });
  expect(parsePolicy(text)).toHaveLength(1);
});

test.each([
  ['', 'apiVersion: Required value'],
  [`${HEAD}rules: []`, 'rules: Required value: a policy needs at least one rule'],
  [
    'apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]',
    'apiVersion: Unsupported value: "audit.k8s.io/v1beta1"',
  ],
  ['apiVersion: audit.k8s.io/v1\nkind: Polizy\nrules: [{level: None}]', 'kind: Unsupported value: "Polizy"'],
  [`${HEAD}rules:\n- {level: Everything}`, 'rules[0].level: Unsupported value: "Everything"'],
  [`${HEAD}rules:\n- {users: [a]}`, 'rules[0].level: Required value'],
  [`${HEAD}rules:\n- {level: None, usres: [a]}`, 'rules[0].usres: unknown field'],
  [`${HEAD}rules:\n- {level: None, level: Metadata}`, 'line 4: key "level" already set in map'],
  [
    `${HEAD}rules:\n- {level: None, users: a}`,
    'rules[0].users: Invalid value: "a": must be a list of strings',
  ],
  [
    `${HEAD}rules:\n- {level: None, omitStages: [Start]}`,
    'rules[0].omitStages[0]: Invalid value: "Start": allowed stages are',
  ],
  [`${HEAD}rules:\n- {level: None, nonResourceURLs: [version]}`, "must begin with a '/' character"],
  [`${HEAD}rules:\n- {level: None, nonResourceURLs: ["/a*b"]}`, 'must be the final character of the rule'],
  [`${HEAD}rules:\n- {level: None, nonResourceURLs: ["/a"], namespaces: [b]}`, 'rules cannot apply to both'],
  [
    `${HEAD}rules:\n- {level: None, resources: [{group: apps/v1}]}`,
    'rules[0].resources[0].group: Invalid value: "apps/v1"',
  ],
  [
    `${HEAD}rules:\n- {level: None, resources: [{group: "", resourceNames: [a]}]}`,
    'using resourceNames requires at least one resource',
  ],
  [`${HEAD}rules:\n- {level: None, resources: [pods]}`, 'rules[0].resources: Invalid value'],
  [`${HEAD}rules:\n- {level: None, omitManagedFields: maybe}`, 'must be true or false'],
  ['{', 'yaml: line 1: did not find expected node content'],
])('the policy %j is refused with words that tell where', (text, message) => {
  expect(() => parsePolicy(text)).toThrow(message);
});
