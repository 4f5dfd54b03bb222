// @module-tag long
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { parseOptions } from '../../src/options/options.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { onLeash } from '../kit/leash.ts';
import { PATIENCE } from '../kit/patience.ts';
import { TestRoles } from '../kit/roles.ts';
import { watchTool } from '../kit/running-tool.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** The chart as `pg-apiserver chart` writes it, installed by Helm into a cluster of our own. */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const NAMESPACE = 'fleet';

interface Container {
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
}

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template?: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly Container[] };
    };
  } & Readonly<Record<string, unknown>>;
}

const DATABASE = {
  servers: 'postgres://db-0:5432/kube?sslmode=verify-full,postgres://db-1:5432/kube?sslmode=verify-full',
  ownerSecret: 'owner',
  serverSecret: 'server',
  readerSecret: 'reader',
};

const VALUES: Readonly<Record<string, object>> = {
  'what must be given': { database: DATABASE },
  'a certificate by Secret': {
    database: { ...DATABASE, readServers: 'postgres://standby/kube' },
    certificate: { secret: 'serving', names: ['kube.example.com'] },
    serviceMonitor: { enabled: true, tokenSecret: 'scraper', labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true },
    antiAffinity: 'required',
    replicas: 3,
    mounts: [{ secret: 'audit', path: '/etc/audit' }],
    flags: ['--authorization-mode=RBAC', '--audit-policy-file=/etc/audit/policy.yaml'],
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    imagePullSecrets: [{ name: 'registry' }],
    podAnnotations: { team: 'platform' },
  },
  'cert-manager and a closed network': {
    database: DATABASE,
    certificate: { certManager: { enabled: true, issuer: { name: 'internal' } } },
    serviceMonitor: { enabled: true, tokenSecret: 'scraper' },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    networkPolicy: {
      from: [{ namespaceSelector: {} }],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432 }] }],
    },
    service: { type: 'LoadBalancer', port: 6443, annotations: { a: 'b' } },
  },
};

let database: TestDatabase;
let cluster: Cluster;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-chart-'));
  database = await createTestDatabase();
  cluster = await startCluster(database.url);
  for (const [kind, group, plural] of [
    ['ServiceMonitor', 'monitoring.coreos.com', 'servicemonitors'],
    ['PrometheusRule', 'monitoring.coreos.com', 'prometheusrules'],
    ['Certificate', 'cert-manager.io', 'certificates'],
  ] as const)
    await done(cluster.kubectl('apply -f -', JSON.stringify(definitionOf(kind, group, plural))));
  await done(cluster.kubectl(`create namespace ${NAMESPACE}`));
  const levels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
  await done(cluster.kubectl(`label namespace ${NAMESPACE} ${levels.join(' ')}`));
  const written = await run('chart', join(folder, 'chart'));
  expect(written).toMatchObject({ code: 0, output: expect.stringContaining('helm install') });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const definitionOf = (kind: string, group: string, plural: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

async function done(result: ReturnType<Cluster['kubectl']>): Promise<string> {
  const { code, stdout, stderr } = await result;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

async function run(...args: readonly string[]): Promise<Ran> {
  return runWith({}, args);
}

async function runWith(env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ran> {
  const tool = watchTool(
    onLeash(spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } })),
  );
  const code = await tool.ended;
  return { code, output: tool.output };
}

function valuesFile(name: string, values: object): string {
  const path = join(folder, `${name.replaceAll(' ', '-')}.json`);
  writeFileSync(path, JSON.stringify(values));
  return path;
}

async function render(name: string, values: object): Promise<Rendered[]> {
  const file = valuesFile(name, values);
  const { code, stdout, stderr } = await cluster.helm(
    `template kube ${join(folder, 'chart')} --namespace=${NAMESPACE} --values=${file}`,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
}

const ofKind = (objects: readonly Rendered[], kind: string): Rendered => {
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} was rendered`);
  return found;
};

function containerOf({ spec }: Rendered): Container {
  const [container] = spec.template?.spec.containers ?? [];
  if (container === undefined) throw new Error('no container');
  return container;
}

test.each(Object.entries(VALUES))(
  '%s: all that is rendered is valid, and pods are restricted',
  async (name, values) => {
    const lint = await cluster.helm(
      `lint --strict ${join(folder, 'chart')} --values=${valuesFile(name, values)}`,
    );
    expect(lint, lint.stdout).toMatchObject({ code: 0 });
    const objects = await render(name, values);
    const templates = objects.flatMap(({ spec: { template } }) => (template === undefined ? [] : [template]));
    expect(templates).toHaveLength(2);
    const pods = templates.map((template, at) => ({
      ...template,
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...template.metadata, name: `pod-${at}` },
    }));
    for (const object of [...objects, ...pods]) {
      // A warning would be a template that Pod Security refuses.
      const input = JSON.stringify(object);
      await done(cluster.kubectl(`create --dry-run=server --namespace=${NAMESPACE} -f -`, input));
    }
    // What the server understands.
    const { args } = containerOf(ofKind(objects, 'Deployment'));
    expect(() => parseOptions(args)).not.toThrow();
  },
);

test('two servers are kept apart, and one of them at a time may be evicted', async () => {
  const [first = '', second = ''] = Object.keys(VALUES);
  const objects = await render(first, VALUES[first] ?? {});
  const deployment = ofKind(objects, 'Deployment');
  expect(deployment.spec.replicas).toBe(2);
  const selector = { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'server' }) };
  expect(deployment.spec.template?.spec).toMatchObject({
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: selector } },
        ],
      },
    },
  });
  expect(ofKind(objects, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1, selector });
  const apart = ofKind(await render(second, VALUES[second] ?? {}), 'Deployment');
  expect(apart.spec.template?.spec).toMatchObject({
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: selector }] },
    },
  });
});

test('the rules of the chart are those of `alerts`, about the job of its ServiceMonitor', async () => {
  const name = 'cert-manager and a closed network';
  const objects = await render(name, VALUES[name] ?? {});
  const job = ofKind(objects, 'Service').metadata.name;
  expect(ofKind(objects, 'PrometheusRule').spec).toEqual(parse((await run('alerts', job)).output));
});

test.each([
  [{}, 'database.ownerSecret: name the Secret'],
  [
    { database: { ...DATABASE, servers: 'postgres://user:secret@db/kube' } },
    "Does not match pattern '^(postgres",
  ],
  [{ database: DATABASE, replica: 3 }, 'Additional property replica is not allowed'],
  [{ database: DATABASE, resources: { limit: { memory: '1Gi' } } }, 'Additional property limit'],
  [
    { database: DATABASE, resources: { limits: { memory: '1 Gi' } } },
    'resources.limits.memory: Does not match',
  ],
  [{ database: DATABASE, tolerations: [{ keys: 'a' }] }, 'Additional property keys is not allowed'],
  [{ database: DATABASE, networkPolicy: { from: [{ ipblock: {} }] } }, 'Additional property ipblock'],
  [{ database: DATABASE, networkPolicy: { egress: [{ port: 5432 }] } }, 'Additional property port'],
  [{ database: DATABASE, imagePullSecrets: [{ name: 'a', key: 'b' }] }, 'Additional property key'],
  [
    { database: DATABASE, serviceMonitor: { enabled: true, tokenSecret: 'a' } },
    'serviceMonitor.caSecret: name',
  ],
  [{ database: DATABASE, certificate: { certManager: { enabled: true } } }, 'issuer.name: name the issuer'],
])('%j is refused, and what is missing is named', async (values, message) => {
  const file = valuesFile('wrong', values);
  const { code, stderr } = await cluster.helm(`template kube ${join(folder, 'chart')} --values=${file}`);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

test('the chart has the version of the package, and is written over an earlier chart alone', async () => {
  const { version } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
  );
  const chart = join(folder, 'chart');
  expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({
    version,
    appVersion: version,
  });
  expect(await run('chart', chart)).toMatchObject({ code: 0 });
  expect(await run('chart', folder)).toEqual({
    code: 2,
    output: expect.stringContaining('holds other files'),
  });
});

/** Does the work of a kubelet: resolves the variables of a container from the Secrets of the cluster. */
async function environmentOf({ env }: Container): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, valueFrom } of env) {
    const { name: secret, key } = valueFrom.secretKeyRef;
    const { json } = await cluster.request('GET', `/api/v1/namespaces/${NAMESPACE}/secrets/${secret}`);
    found[name] = Buffer.from(json.data[key], 'base64').toString();
  }
  return found;
}

const expand = (args: readonly string[], env: Readonly<Record<string, string>>): string[] =>
  args.map((arg) => arg.replaceAll(/\$\((\w+)\)/g, (all, name: string) => env[name] ?? all));

test('an installed release migrates as the owner, then serves as a role of its own', async () => {
  await using served = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(served);
  const url = new URL(served.url);
  for (const [role, attributes] of [
    ['owner', ''],
    ['server', 'REPLICATION'],
    ['reader', ''],
  ] as const) {
    const { username, password } = new URL(await roles.make(role, attributes));
    await done(
      cluster.kubectl(
        `create secret generic ${role} --namespace=${NAMESPACE} --type=kubernetes.io/basic-auth --from-literal=username=${username} --from-literal=password=${password}`,
      ),
    );
  }
  const name = url.pathname.slice(1);
  await served.query(`GRANT CREATE ON SCHEMA public TO ${roles.nameOf('owner')}`);
  await served.query(`GRANT CREATE, TEMPORARY ON DATABASE ${name} TO ${roles.nameOf('owner')}`);
  url.username = '';
  url.password = '';
  const values = valuesFile('installed', { database: { ...DATABASE, servers: url.href } });
  const installing = cluster.helm(
    `install kube ${join(folder, 'chart')} --namespace=${NAMESPACE} --values=${values} --timeout=120s`,
  );

  const path = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs/kube-pg-apiserver-migrate`;
  const job = await vi.waitFor(async () => {
    const { code, json } = await cluster.request('GET', path);
    expect(code).toBe(200);
    return json as Rendered;
  }, PATIENCE);
  const migration = containerOf(job);
  const env = await environmentOf(migration);
  const migrated = await runWith(env, expand(migration.args, env));
  expect(migrated, migrated.output).toMatchObject({
    code: 0,
    output: expect.stringContaining('applied baseline'),
  });
  const now = new Date().toISOString();
  const condition = { status: 'True', lastTransitionTime: now, lastProbeTime: now };
  const status = {
    startTime: now,
    completionTime: now,
    succeeded: 1,
    conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => ({ ...condition, type })),
  };
  const patched = await cluster.request(
    'PATCH',
    `${path}/status`,
    { status },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  expect(patched.code, patched.text).toBe(200);
  expect(await installing).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('https://kube-pg-apiserver.fleet.svc:443 with 2 servers'),
  });

  const { json } = await cluster.request(
    'GET',
    `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/kube-pg-apiserver`,
  );
  const server = containerOf(json);
  const port = await freePort();
  const here = server.args.map((arg) =>
    arg.replace('=/data', `=${join(folder, 'data')}`).replace('6443', `${port}`),
  );
  const login = await environmentOf(server);
  const tool = watchTool(
    onLeash(spawn(process.execPath, [MAIN, ...here], { env: { ...process.env, ...login } })),
  );
  await tool.says('serving on https://');
  const ready = await cluster.kubectl(
    `get --raw ${server.readinessProbe?.httpGet.path} --kubeconfig=${join(folder, 'data', 'admin.kubeconfig')}`,
  );
  expect(ready).toMatchObject({ code: 0, stdout: 'ok' });
  const users = await served.query(
    `SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = '${name}' AND starts_with(usename, '${roles.prefix}')`,
  );
  expect(users).toEqual([{ usename: roles.nameOf('server') }]);
  tool.process.kill('SIGTERM');
  expect(await tool.ended).toBe(0);
});
