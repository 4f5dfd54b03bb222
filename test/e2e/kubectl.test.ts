import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../kit/cluster.ts';
import { spawnKubectl, watchBegins } from '../kit/running-tool.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

const DEPLOYMENT = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {app: app}}
spec:
  replicas: 2
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - {name: c, image: "${image}", ports: [{containerPort: 80}]}
`;

test('the cluster has its namespaces from the start', async () => {
  const names = (await ok('get namespaces -o name')).trim().split('\n').sort();
  expect(names).toEqual(
    ['cluster-system', 'default', 'kube-node-lease', 'kube-public', 'kube-system'].map(
      (name) => `namespace/${name}`,
    ),
  );
});

test('apply creates, configures, and leaves alone what has not changed', async () => {
  expect(await ok('apply -f -', DEPLOYMENT('nginx:1'))).toContain('created');
  expect(await ok('apply -f -', DEPLOYMENT('nginx:1'))).toContain('unchanged');
  const difference = await cluster.kubectl('diff -f -', DEPLOYMENT('nginx:2'));
  expect(difference.code).toBe(1);
  expect(difference.stdout).toContain('+      - image: nginx:2');
  expect(await ok('apply -f -', DEPLOYMENT('nginx:2'))).toContain('configured');
  expect(await ok("get deployment app -o jsonpath='{.spec.template.spec.containers[0].image}'")).toContain(
    'nginx:2',
  );
});

test('objects can be changed in every way kubectl knows', async () => {
  await ok('apply -f -', DEPLOYMENT('nginx:2'));
  await ok('set image deployment/app c=nginx:3');
  await ok('label deployment app tier=web');
  await ok('annotate deployment app note=hello');
  await ok('scale deployment app --replicas=7');
  await ok(`patch deployment app --type=json -p '[{"op":"add","path":"/spec/paused","value":true}]'`);
  await ok(`patch deployment app --type=merge -p '{"spec":{"minReadySeconds":5}}'`);
  await ok(
    `patch deployment app -p '{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"b"}]}]}}}}'`,
  );
  const { metadata, spec } = JSON.parse(await ok('get deployment app -o json'));
  expect(metadata.labels.tier).toBe('web');
  expect(metadata.annotations.note).toBe('hello');
  expect(spec).toMatchObject({ replicas: 7, paused: true, minReadySeconds: 5 });
  expect(spec.template.spec.containers).toMatchObject([
    { name: 'c', image: 'nginx:3', env: [{ name: 'A', value: 'b' }] },
  ]);
  expect(metadata.generation).toBeGreaterThanOrEqual(5);
  expect(await ok('replace -f -', DEPLOYMENT('nginx:4'))).toContain('replaced');
});

test('edit saves what the editor leaves', async () => {
  await ok('create configmap edited --from-literal=word=before');
  const editor = join(cluster.folder, 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nsed -i s/before/after/ "$1"\n', { mode: 0o755 });
  const edited = await cluster.kubectl('edit configmap edited', undefined, { KUBE_EDITOR: editor });
  expect(edited).toMatchObject({ code: 0 });
  expect(await ok("get configmap edited -o jsonpath='{.data.word}'")).toContain('after');
});

/** One of each, made with one command: each start of kubectl costs a quarter of a second of CPU. */
const SHOWN = `
apiVersion: v1
kind: ConfigMap
metadata: {name: shown}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden}
stringData: {a: "1"}
---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {containers: [{name: one, image: busybox}]}
---
apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {selector: {app: app}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: busybox}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
status: {nodeInfo: {kubeletVersion: v1.31.0}}
`;

test('tables show what people look at daily', async () => {
  await ok('apply -f -', SHOWN);
  const tables = await ok('get configmap/shown secret/hidden service/svc job/work node/n1');
  expect(tables).toMatch(/NAME\s+DATA\s+AGE\nconfigmap\/shown\s+2\s+\d+s/);
  expect(tables).toMatch(/NAME\s+TYPE\s+DATA\s+AGE\nsecret\/hidden\s+Opaque\s+1/);
  expect(tables).toMatch(/svc\s+ClusterIP\s+\S+\s+<none>\s+80\/TCP/);
  expect(tables).toMatch(/work\s+Running\s+0\/1/);
  expect(tables).toMatch(/n1\s+Unknown\s+worker\s+\d+s\s+v1.31.0/);
  const wide = await ok('get pods -o wide');
  expect(wide).toMatch(/NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE\s.*NOMINATED NODE/);
  expect(wide).toMatch(/one\s+0\/1\s+Pending\s+0/);
  expect(await ok('get all')).toContain('deployment.apps/app');
});

test('describe, explain, api-resources and cluster-info work without switches', async () => {
  expect(await ok('describe pod one')).toMatch(/QoS Class: +BestEffort/);
  expect(await ok('explain deployment.spec.strategy.type')).toContain('FIELD: type <string>');
  expect(await ok('explain pod.spec.containers --recursive')).toContain('livenessProbe\t<Probe>');
  expect(await ok('api-resources --api-group=apps')).toContain('deployments');
  const versions = await ok('api-versions');
  expect(versions).toContain('rbac.authorization.k8s.io/v1\n');
  expect(versions).toContain('rbac.authorization.cluster.io/v1\n');
  expect(await ok('cluster-info')).toContain('is running at');
  expect(await ok('auth can-i create pods')).toContain('yes');
  expect(await ok('auth whoami')).toContain('kubernetes-admin');
});

test('wait sees a condition, and gives up in time without one', async () => {
  const late = await cluster.kubectl('wait --for=condition=Ready pod/one --timeout=1s');
  expect(late.code).toBe(1);
  const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: null, lastProbeTime: null }];
  const waiting = ok('wait --for=condition=Ready pod/one --timeout=20s');
  const patch = { status: { phase: 'Running', conditions: ready } };
  await cluster.request('PATCH', '/api/v1/namespaces/default/pods/one/status', patch, {
    'content-type': 'application/merge-patch+json',
  });
  expect(await waiting).toContain('condition met');
});

const DOOMED = `
apiVersion: v1
kind: Namespace
metadata: {name: doomed}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: doomed}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: doomed}
spec: {containers: [{name: p, image: busybox}]}
`;

test('a namespace takes everything in it along', async () => {
  await ok('apply -f -', DOOMED);
  await ok('delete namespace doomed --timeout=20s');
  expect((await cluster.kubectl('get namespace doomed')).stderr).toContain('namespaces "doomed" not found');
  expect((await ok('-n doomed get configmaps,pods -o name')).trim()).toBe('');
  const late = await cluster.kubectl('-n doomed create configmap b');
  expect(late.stderr).toContain('namespaces "doomed" not found');
});

test('finalizers keep an object until the last one is removed', async () => {
  await ok(
    'apply -f -',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [example.com/duty]}',
  );
  await ok('delete configmap held --wait=false');
  const held = JSON.parse(await ok('get configmap held -o json'));
  expect(held.metadata.deletionTimestamp).toBeTruthy();
  await ok(`patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'`);
  expect((await cluster.kubectl('get configmap held')).stderr).toContain('not found');
});

test('what is wrong is said in the words people know', async () => {
  const unknown = await cluster.kubectl(
    'apply -f -',
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndataa: {x: y}',
  );
  expect(unknown.stderr).toContain('strict decoding error: unknown field "dataa"');
  const invalid = await cluster.kubectl('create configmap Bad_Name');
  expect(invalid.stderr).toContain('ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value');
  const twice = await cluster.kubectl('create configmap shown');
  expect(twice.stderr).toContain('configmaps "shown" already exists');
  const empty = await cluster.kubectl(
    'apply -f -',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: empty}\nspec: {}',
  );
  expect(empty.stderr).toContain('spec.containers: Required value');
});

test('a watch of a table prints lines as things happen', async () => {
  const watching = spawnKubectl(cluster, ['get', 'configmaps', '-w', '--field-selector=metadata.name=seen']);
  try {
    await watchBegins(cluster, 'configmaps');
    await ok('create configmap seen --from-literal=a=1');
    await watching.says(/NAME\s+DATA\s+AGE\nseen\s+1/);
  } finally {
    watching.process.kill();
    await watching.ended;
  }
});

test('a watch over HTTP/2 prints each of many objects that are created at the same time', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const names = Array.from({ length: 40 }, (_, n) => `burst-${n}`);
  const labels = { burst: 'yes' };
  const watching = spawnKubectl(cluster, ['get', 'configmaps', '-w', '-l', 'burst=yes', '-o', 'name']);
  try {
    await watchBegins(cluster, 'configmaps');
    await Promise.all(names.map((name) => cluster.request('POST', path, { metadata: { name, labels } })));
    await watching.says(/(.+\n){40}/);
    expect(watching.output.trim().split('\n').sort()).toEqual(
      names.map((name) => `configmap/${name}`).sort(),
    );
  } finally {
    watching.process.kill();
    await watching.ended;
  }
});
