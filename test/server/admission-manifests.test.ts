import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ManifestFolder } from '../../src/admission/manifests/manifest-folder.ts';
import {
  openPolicyManifests,
  policyManifests,
  webhookManifests,
} from '../../src/admission/manifests/manifest-rules.ts';
import { Namespaces, RequestMatcher } from '../../src/admission/match-resources.ts';
import { Hooks } from '../../src/admission/policies/read-policy.ts';
import { VALIDATING } from '../../src/admission/policies/validating.ts';
import { HookList, type WebhookConfiguration } from '../../src/admission/webhooks/webhook.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import {
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  POLICIES,
  POLICY_BINDINGS,
} from '../../src/api/known-resources.ts';
import type { ResourceOf } from '../../src/api/names.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { Registry } from '../../src/registry/registry.ts';
import { createManifests } from '../../src/server/admission-manifests.ts';
import { attributesOf, FakeCluster } from '../kit/admission.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

/** Admission that files configure. */

const root = mkdtempSync(join(tmpdir(), 'pg-apiserver-manifests-'));
afterAll(() => rmSync(root, { recursive: true }));

function folderOf(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(root, 'folder-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

const RULE = '{apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"]}';

const policy = (name: string, more = ''): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ${name}}
spec:
  matchConstraints: {resourceRules: [${RULE}]}
  validations: [{expression: "false"}]
  ${more}
`;

const binding = (name: string, policyName: string, more = ''): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ${name}}
spec: {policyName: ${policyName}, validationActions: [Deny]${more}}
`;

const webhook = (name: string, client: string): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ${name}}
webhooks:
- {name: w.example.com, clientConfig: ${client}, rules: [${RULE}], sideEffects: None, admissionReviewVersions: [v1]}
`;

const WEBHOOKS: ResourceOf<WebhookConfiguration> = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingwebhookconfigurations',
};
const POLICY_RULES = policyManifests('ValidatingAdmissionPolicy', POLICIES, POLICY_BINDINGS);
const WEBHOOK_RULES = webhookManifests(
  'ValidatingAdmissionWebhook',
  'ValidatingWebhookConfiguration',
  WEBHOOKS,
);

const types = loadTypes(36);

function openIn(dir: string, rules = POLICY_RULES, on = true) {
  const metrics = new Metrics();
  const said: string[] = [];
  const manifests = createManifests({
    ...{ types, metrics, emulated: 36 as const },
    isFeatureOn: Object.assign((gate: string) => on && gate === 'ManifestBasedAdmissionControlConfig', {
      minor: 36 as const,
    }),
    logger: {
      info: (_, message, fields) => said.push(`${message} ${JSON.stringify(fields)}`),
      warn: () => {},
      error: (message, error) => said.push(`${message}: ${String(error)}`),
    },
    now: () => new Date(1_000_000),
  });
  const objects = manifests.open({ staticManifestsDir: dir }, rules);
  if (!(objects instanceof ManifestFolder)) throw new Error('no folder');
  return { objects, metrics, said };
}

const namesIn = (dir: string): (string | undefined)[] =>
  openIn(dir)
    .objects.in(POLICIES)
    .map(({ metadata }) => metadata.name);

test('all manifests of a folder are read, by name, alone, in lists, and with the defaults of the API', () => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
  const ofOneKind = {
    apiVersion: 'admissionregistration.cluster.io/v1',
    kind: 'ValidatingAdmissionPolicyList',
    items: [{ metadata: { name: 'a.static.k8s.io' }, spec }],
  };
  const dir = folderOf({
    'one.yaml': `---\n${policy('z.static.k8s.io')}\n--- # next\n${binding('b.static.k8s.io', 'z.static.k8s.io')}\n---\n`,
    'two.JSON': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [ofOneKind] }),
    'empty.yml': '',
    'notes.txt': 'not: [a manifest',
  });
  mkdirSync(join(dir, 'below.yaml'));
  const { objects } = openIn(dir);
  expect(namesIn(dir)).toEqual(['a.static.k8s.io', 'z.static.k8s.io']);
  expect(objects.in(POLICIES)[0]?.spec).toMatchObject({
    failurePolicy: 'Fail',
    matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {} },
  });
  expect(objects.in(POLICY_BINDINGS)).toHaveLength(1);
});

test.each<[string, RegExp, typeof POLICY_RULES?]>([
  [policy('plain'), /x\.yaml: .*"plain" must have a name that ends with "\.static\.k8s\.io"/],
  [policy('p.static.k8s.io', 'colour: red'), /x\.yaml: unknown field "spec\.colour"/],
  [policy('p.static.k8s.io', 'failurePolicy: Retry'), /failurePolicy: Unsupported value: "Retry"/],
  [policy('p.static.k8s.io', 'spec: {}\nspec: {}'), /already set in map/],
  [
    policy('p.static.k8s.io', 'paramKind: {apiVersion: v1, kind: ConfigMap}'),
    /"p\.static\.k8s\.io": a manifest may not have spec\.paramKind/,
  ],
  [`${policy('p.static.k8s.io')}---${policy('p.static.k8s.io')}`, /is there twice, first in .*x\.yaml/],
  [binding('b.static.k8s.io', 'p'), /spec\.policyName must end with "\.static\.k8s\.io"/],
  [
    binding('b.static.k8s.io', 'p.static.k8s.io', ', paramRef: {name: a, parameterNotFoundAction: Deny}'),
    /may not have spec\.paramRef/,
  ],
  [binding('b.static.k8s.io', 'p.static.k8s.io'), /"p\.static\.k8s\.io", which no file of its folder has/],
  [
    webhook('w.static.k8s.io', '{url: "https://a.example"}'),
    /kind "ValidatingWebhookConfiguration" .* no place/,
  ],
  [
    policy('p.static.k8s.io').replace('/v1', '/v1beta1'),
    /"admissionregistration\.k8s\.io\/v1beta1" has no place/,
  ],
  ['# nothing', /kind "" of apiVersion "" has no place/],
  ['a: [', /x\.yaml: yaml: /],
  [
    webhook('w.static.k8s.io', '{service: {namespace: a, name: b}}'),
    /clientConfig of webhook "w\.example\.com" must have a url and no service/,
    WEBHOOK_RULES,
  ],
])('a manifest %j is refused', (text, why, rules) => {
  expect(() => openIn(folderOf({ 'x.yaml': text }), rules)).toThrow(why);
});

test('mutating policies are read with their own rules', () => {
  const rules = policyManifests('MutatingAdmissionPolicy', MUTATING_POLICIES, MUTATING_POLICY_BINDINGS);
  const mutating = (mutations: string): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}
  reinvocationPolicy: Never
  mutations: ${mutations}
`;
  const patch = `[JSONPatch{op: "add", path: "/metadata/labels/a", value: "b"}]`;
  const good = `[{patchType: JSONPatch, jsonPatch: {expression: '${patch}'}}]`;
  expect(openIn(folderOf({ 'm.yaml': mutating(good) }), rules).objects.in(MUTATING_POLICIES)).toHaveLength(1);
  expect(() => openIn(folderOf({ 'm.yaml': mutating('[]') }), rules)).toThrow(/spec\.mutations: Required/);
});

test('a folder must be one, by an absolute path, and needs the feature gate', () => {
  expect(() => openIn('relative')).toThrow(/staticManifestsDir: .*must be an absolute file path/);
  expect(() => openIn(join(root, 'absent'))).toThrow(/staticManifestsDir: .*unable to read/);
  expect(() => openIn(join(folderOf({ a: '' }), 'a'))).toThrow(/staticManifestsDir: .*must be a directory/);
  expect(() => openIn(folderOf({}), POLICY_RULES, false)).toThrow(/needs the feature gate ManifestBased/);
});

test('the configuration of a plugin of policies has its own kind and one field', () => {
  const open = (config: JsonObject) =>
    openPolicyManifests({ config, openManifests: () => undefined }, POLICY_RULES);
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'ValidatingAdmissionPolicyConfiguration' };
  expect(open(head)).toBeUndefined();
  expect(() => open({ ...head, kind: 'MutatingAdmissionPolicyConfiguration' })).toThrow(/kind: Unsupported/);
  expect(() => open({ ...head, dir: '/etc' })).toThrow(/dir: unknown field/);
});

test('changed files replace all objects at once; wrong ones are reported and counted, and change nothing', async () => {
  const dir = folderOf({ 'a.yaml': policy('a.static.k8s.io') });
  const { objects, metrics, said } = openIn(dir);
  const names = () => objects.in(POLICIES).map(({ metadata }) => metadata.name);
  writeFileSync(join(dir, 'b.yaml'), policy('b.static.k8s.io'));
  await objects.look();
  expect(names()).toEqual(['a.static.k8s.io', 'b.static.k8s.io']);
  expect(objects.changes).toBe(1);
  writeFileSync(join(dir, 'a.yaml'), policy('nameless'));
  rmSync(join(dir, 'b.yaml'));
  await objects.look();
  await objects.look();
  expect(names()).toEqual(['a.static.k8s.io', 'b.static.k8s.io']);
  expect(objects.changes).toBe(1);
  rmSync(join(dir, 'a.yaml'));
  await objects.look();
  expect(names()).toEqual([]);
  expect(said).toEqual([
    expect.stringContaining('was read again'),
    expect.stringMatching(/admission by the manifests of .*a\.yaml: .*"nameless" must have a name/),
    expect.stringContaining('was read again'),
  ]);
  const text = await metrics.text();
  const prefix = 'apiserver_manifest_admission_config_controller_automatic_reload';
  expect(text).toMatch(
    new RegExp(`${prefix}s_total\\{status="success",plugin="ValidatingAdmissionPolicy",.*\\} 3\\n`),
  );
  expect(text).toMatch(new RegExp(`${prefix}s_total\\{status="failure",.*\\} 1\\n`));
  expect(text).toMatch(new RegExp(`${prefix}_last_timestamp_seconds\\{status="failure",.*\\} 1000\\n`));
});

test('the hash of the files in force is a metric', async () => {
  const text = policy('a.static.k8s.io');
  const { metrics } = openIn(folderOf({ 'a.yaml': text, 'b.yaml': '' }));
  const hash = createHash('sha256').update(`${text}\0`).digest('hex');
  expect(await metrics.text()).toMatch(new RegExp(`_last_config_info\\{.*hash="sha256:${hash}"\\} 1\\n`));
});

const CONFIGURING = [
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
];

test('webhooks of files come before those of the API, and are asked about objects that configure admission', () => {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);
  const { objects } = openIn(
    folderOf({ 'w.yaml': webhook('z.static.k8s.io', '{url: "https://a.example"}') }),
    WEBHOOK_RULES,
  );
  const rules = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }];
  const cluster = new FakeCluster({
    [WEBHOOKS.resource]: [{ metadata: { name: 'a' }, webhooks: [{ name: 'w.example.com', rules }] }],
  });
  const list = new HookList(cluster.follow(WEBHOOKS), registry, { objects, resource: WEBHOOKS });
  const called = (resource: string) =>
    list
      .candidates(attributesOf(resource, {}))
      .map(({ webhook: { configuration }, index }) => `${index} ${configuration}`);
  expect(called('pods')).toEqual(['0 z.static.k8s.io', '1 a']);
  for (const resource of CONFIGURING) expect(called(resource)).toEqual(['0 z.static.k8s.io']);
});

test('policies of files come before those of the API, and judge objects that configure admission, but no reviews', () => {
  const { objects } = openIn(
    folderOf({ 'p.yaml': `${policy('z.static.k8s.io')}---${binding('b.static.k8s.io', 'z.static.k8s.io')}` }),
  );
  const spec = { matchConstraints: {}, validations: [] };
  const cluster = new FakeCluster({
    [POLICIES.resource]: [{ metadata: { name: 'a' }, spec }],
    [POLICY_BINDINGS.resource]: [{ metadata: { name: 'a' }, spec: { policyName: 'a' } }],
  });
  const matcher = new RequestMatcher(new Namespaces(cluster), () => []);
  const hooks = new Hooks(cluster, matcher, { kind: VALIDATING, manifests: objects });
  const judging = (resource: string) => hooks.for(attributesOf(resource, {})).map((hook) => hook.policy.name);
  expect(judging('pods')).toEqual(['z.static.k8s.io', 'a']);
  expect(judging('admissionregistration.k8s.io/validatingadmissionpolicies')).toEqual(['z.static.k8s.io']);
  expect(judging('authentication.k8s.io/tokenreviews')).toEqual([]);
});
