// @module-tag long
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

const ADMISSION = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {audit: baseline}
    exemptions: {namespaces: [trusted]}
`;
const AUDIT = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  resources: [{group: "", resources: [pods, namespaces]}, {group: apps}]
- level: None
`;

let database: TestDatabase;
let folder: string;
let log: string;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'pod-security-e2e-'));
  log = join(folder, 'audit.log');
  writeFileSync(join(folder, 'admission.yaml'), ADMISSION);
  writeFileSync(join(folder, 'audit.yaml'), AUDIT);
  cluster = await startCluster(database.url, [
    '--disable-admission-plugins=ServiceAccount',
    `--admission-control-config-file=${join(folder, 'admission.yaml')}`,
    `--audit-policy-file=${join(folder, 'audit.yaml')}`,
    `--audit-log-path=${log}`,
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const PREFIX = 'pod-security.kubernetes.io/';
const ON_HOST = { hostPID: true, containers: [{ name: 'c', image: 'i' }] };
const pod = (namespace: string, name: string, spec: object): Promise<Answer> =>
  cluster.request('POST', `/api/v1/namespaces/${namespace}/pods`, { metadata: { name }, spec });

/** Those that the plugin made, once the event is written. */
async function annotationsOf(answer: Answer): Promise<Record<string, string>> {
  let found: Record<string, string> | undefined;
  const look = (): boolean => {
    const events = readFileSync(log, 'utf8').trim().split('\n');
    const event = events
      .map((line) => JSON.parse(line))
      .find(({ auditID }) => auditID === answer.headers['audit-id']);
    found = event?.annotations;
    return event !== undefined;
  };
  await expect.poll(look).toBe(true);
  return Object.fromEntries(Object.entries(found ?? {}).filter(([key]) => key.startsWith(PREFIX)));
}

test('kubectl run is refused where the namespace is restricted, with all violations', async () => {
  await cluster.kubectl('create namespace strict');
  await cluster.kubectl(`label namespace strict ${PREFIX}enforce=restricted`);
  const run = await cluster.kubectl('run web --image=nginx -n strict');
  expect(run.code).not.toBe(0);
  expect(run.stderr).toContain(
    'Error from server (Forbidden): pods "web" is forbidden: violates PodSecurity "restricted:latest": ' +
      'allowPrivilegeEscalation != false (container "web" must set securityContext.allowPrivilegeEscalation=false), ' +
      'unrestricted capabilities (container "web" must set securityContext.capabilities.drop=["ALL"]), ' +
      'runAsNonRoot != true (pod or container "web" must set securityContext.runAsNonRoot=true), ' +
      'seccompProfile (pod or container "web" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  );
  const created = await cluster.kubectl('create deployment web --image=nginx -n strict');
  expect(created.code).toBe(0);
  expect(created.stderr).toContain(
    'Warning: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "nginx" must',
  );
});

test('a refused pod is a 403 that names it, and is recorded with the policy and what is wrong', async () => {
  await cluster.request('POST', '/api/v1/namespaces', {
    metadata: {
      name: 'base',
      labels: { [`${PREFIX}enforce`]: 'baseline', [`${PREFIX}enforce-version`]: 'v1.20' },
    },
  });
  const refused = await pod('base', 'p', ON_HOST);
  expect(refused.code).toBe(403);
  expect(refused.json).toMatchObject({
    reason: 'Forbidden',
    message: 'pods "p" is forbidden: violates PodSecurity "baseline:v1.20": host namespaces (hostPID=true)',
    details: { name: 'p', kind: 'pods' },
  });
  expect(await annotationsOf(refused)).toEqual({
    [`${PREFIX}enforce-policy`]: 'baseline:v1.20',
    [`${PREFIX}audit-violations`]:
      'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  });
  const dry = await cluster.request('POST', '/api/v1/namespaces/base/pods?dryRun=All', {
    metadata: { name: 'p' },
    spec: ON_HOST,
  });
  expect(dry.code).toBe(403);
});

test('an ephemeral container is held against the policy, as is a new image; a label is not', async () => {
  const pods = '/api/v1/namespaces/base/pods/looked-at';
  await pod('base', 'looked-at', { containers: [{ name: 'c', image: 'i' }] });
  const patch = (path: string, body: object): Promise<Answer> =>
    cluster.request('PATCH', path, body, { 'content-type': 'application/strategic-merge-patch+json' });
  const debugger_ = (securityContext: object) => ({
    spec: { ephemeralContainers: [{ name: 'debug', image: 'i', securityContext }] },
  });
  const refused = await patch(
    `${pods}/ephemeralcontainers`,
    debugger_({ capabilities: { add: ['SYS_ADMIN'] } }),
  );
  expect(refused.json.message).toBe(
    'pods "looked-at" is forbidden: violates PodSecurity "baseline:v1.20": non-default capabilities ' +
      '(container "debug" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
  );
  expect((await patch(`${pods}/ephemeralcontainers`, debugger_({}))).code).toBe(200);
  expect((await patch(pods, { metadata: { labels: { a: 'b' } } })).code).toBe(200);
});

test('labels that cannot be read are refused; stricter ones warn of the pods that are there', async () => {
  await cluster.kubectl('create namespace lax');
  await pod('lax', 'first', ON_HOST);
  const second = await pod('lax', 'second', ON_HOST);
  expect(second.code).toBe(201);
  expect(await annotationsOf(second)).toEqual({
    [`${PREFIX}enforce-policy`]: 'privileged:latest',
    [`${PREFIX}audit-violations`]:
      'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  });
  const wrong = await cluster.kubectl(`label namespace lax ${PREFIX}enforce=strict`);
  expect(wrong.stderr).toContain(
    'The Namespace "lax" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": ' +
      'must be one of privileged, baseline, restricted',
  );
  const right = await cluster.kubectl(`label namespace lax ${PREFIX}enforce=baseline`);
  expect(right.stderr).toContain(
    'Warning: existing pods in namespace "lax" violate the new PodSecurity enforce level "baseline:latest"\n' +
      'Warning: first (and 1 other pod): host namespaces',
  );
  expect(right.stdout).toContain('namespace/lax labeled');
});

test('an exempt namespace is left alone, which is recorded', async () => {
  await cluster.kubectl('create namespace trusted');
  const label = await cluster.kubectl(`label namespace trusted ${PREFIX}enforce=restricted`);
  expect(label.stderr).toContain(
    'Warning: namespace "trusted" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored',
  );
  const made = await pod('trusted', 'p', ON_HOST);
  expect(made.code).toBe(201);
  expect(await annotationsOf(made)).toEqual({ [`${PREFIX}exempt`]: 'namespace' });
  const { text } = await cluster.request('GET', '/metrics');
  expect(text).toMatch(
    /pod_security_exemptions_total\{request_operation="create",resource="pod",subresource=""\} 1/,
  );
});
