// @module-tag long
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { makeRequest } from '../kit/certificate-request.ts';
import type { Cluster } from '../kit/cluster.ts';
import { spawnKubectl, watchBegins } from '../kit/running-tool.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';
import type { TestDatabase } from '../postgres.ts';

/** A day with kubectl, without a controller anywhere: the test does what a command needs of one. */

let shared: SharedCluster;
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster, database } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout.trim();
}

async function refused(args: string): Promise<string> {
  const result = await cluster.kubectl(args);
  expect(result.code, `kubectl ${args}`).toBe(1);
  return result.stderr.trim();
}

async function read(args: string): Promise<JsonObject & { spec: JsonObject; metadata: JsonObject }> {
  return JSON.parse(await ok(`get ${args} -o json`));
}

const file = (name: string): string => join(cluster.folder, name);

async function put(path: string, body: JsonObject): Promise<void> {
  const { code, text } = await cluster.request('POST', path, body);
  expect(code, text).toBe(201);
}

describe('create makes', () => {
  const MADE: readonly [string, JsonObject][] = [
    ['namespace ns-a', { kind: 'Namespace', status: { phase: 'Active' } }],
    ['configmap cm --from-literal=a=1 --from-literal=b=2', { data: { a: '1', b: '2' } }],
    ['secret generic plain --from-literal=user=me', { type: 'Opaque', data: { user: 'bWU=' } }],
    [
      'secret docker-registry reg --docker-server=r.example.com --docker-username=u --docker-password=p',
      { type: 'kubernetes.io/dockerconfigjson' },
    ],
    ['serviceaccount robot', { kind: 'ServiceAccount' }],
    [
      'deployment web --image=nginx:1 --replicas=3 --port=80',
      { spec: { replicas: 3, template: { spec: { containers: [{ image: 'nginx:1' }] } } } },
    ],
    ['deployment two --image=nginx --image=busybox', { spec: { replicas: 1 } }],
    ['job once --image=busybox -- date', { spec: { template: { spec: { restartPolicy: 'Never' } } } }],
    [
      "cronjob often --image=busybox '--schedule=*/5 * * * *' -- date",
      { spec: { schedule: '*/5 * * * *', suspend: false } },
    ],
    [
      'ingress in --rule=a.example.com/path*=web:80 --rule=b.example.com/=web:http,tls=cert --class=nginx',
      { spec: { ingressClassName: 'nginx', tls: [{ hosts: ['b.example.com'], secretName: 'cert' }] } },
    ],
    [
      'poddisruptionbudget pdb --selector=app=nothing --min-available=1',
      { spec: { minAvailable: 1, selector: { matchLabels: { app: 'nothing' } } } },
    ],
    ['priorityclass high --value=1000 --description=high', { value: 1000, description: 'high' }],
    ['quota q --hard=pods=100 --scopes=NotTerminating', { spec: { scopes: ['NotTerminating'] } }],
    [
      'role reader --verb=get,list --resource=pods,pods/log',
      { rules: [{ resources: ['pods', 'pods/log'] }] },
    ],
    ['role one-pod --verb=get --resource=pods --resource-name=p', { rules: [{ resourceNames: ['p'] }] }],
    ['rolebinding readers --role=reader --user=ann --group=team --serviceaccount=default:robot', {}],
    ['clusterrole all-readers --verb=get --resource=deployments.apps', { rules: [{ apiGroups: ['apps'] }] }],
    ['clusterrole urls --verb=get --non-resource-url=/logs/*', { rules: [{ nonResourceURLs: ['/logs/*'] }] }],
    ['clusterrole sum --aggregation-rule=sum=yes', { aggregationRule: {} }],
    ['clusterrolebinding ann-reads --clusterrole=all-readers --user=ann', { subjects: [{ name: 'ann' }] }],
    ['service clusterip cip --tcp=80:8080 --tcp=443', { spec: { type: 'ClusterIP', ports: [{}, {}] } }],
    ['service clusterip headless --clusterip=None', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }],
    ['service clusterip asked --tcp=80 --clusterip=10.0.0.10', { spec: { clusterIPs: ['10.0.0.10'] } }],
    ['service nodeport np --tcp=80 --node-port=30100', { spec: { ports: [{ nodePort: 30_100 }] } }],
    ['service nodeport np-any --tcp=80', { spec: { type: 'NodePort' } }],
    [
      'service loadbalancer lb --tcp=80',
      { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: true } },
    ],
    ['service externalname en --external-name=a.example.com', { spec: { externalName: 'a.example.com' } }],
  ];
  test.each(MADE)('%s', async (args, expected) => {
    const [made = ''] = (await ok(`create ${args}`)).split(' ');
    expect(await read(made)).toMatchObject(expected);
  });

  test('what is made of files and of other objects', async () => {
    mkdirSync(file('conf'), { recursive: true });
    writeFileSync(file('conf/a.txt'), 'hello');
    writeFileSync(file('conf/env'), 'A=1\nB=2\n');
    await ok(`create configmap of-files --from-file=${file('conf')} --from-file=c=${file('conf/a.txt')}`);
    expect((await read('configmap of-files')).data).toEqual({
      'a.txt': 'hello',
      env: 'A=1\nB=2\n',
      c: 'hello',
    });
    await ok(`create secret generic of-env --from-env-file=${file('conf/env')}`);
    expect((await read('secret of-env')).data).toEqual({ A: 'MQ==', B: 'Mg==' });
    const pair = `--cert=${file('certificates/admin.crt')} --key=${file('certificates/admin.key')}`;
    await ok(`create secret tls cert ${pair}`);
    expect(await read('secret cert')).toMatchObject({ type: 'kubernetes.io/tls' });
    await ok('create job by-hand --from=cronjob/often');
    expect((await read('job by-hand')).metadata).toMatchObject({
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ kind: 'CronJob', name: 'often' }],
    });
  });

  test('nothing for a dry run', async () => {
    expect(await ok('create service nodeport never --tcp=80 --dry-run=server -o yaml')).toMatch(
      /nodePort: 3\d{4}/,
    );
    expect(await ok('create deployment never --image=x --dry-run=client -o yaml')).toContain('image: x');
    expect(await refused('get service never')).toContain('services "never" not found');
  });

  test('what is wrong is said', async () => {
    expect(await refused('create service clusterip twice --tcp=80 --clusterip=10.0.0.10')).toBe(
      'error: failed to create ClusterIP service: Service "twice" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.0.10"}: failed to allocate IP 10.0.0.10: provided IP is already allocated',
    );
    expect(await refused('create service nodeport twice --tcp=80 --node-port=30100')).toContain(
      'spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated',
    );
    expect(await refused('create service nodeport low --tcp=80 --node-port=80')).toContain(
      'provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    expect(await refused('create quota bad --hard=nonsense=1')).toContain('spec.hard[nonsense]');
  });
});

describe('run and expose', () => {
  test('run makes pods of every kind', async () => {
    await ok('run plain --image=busybox --labels=app=plain,tier=x --env=A=1 --port=80 -- sleep 1');
    expect(await read('pod plain')).toMatchObject({
      metadata: { labels: { app: 'plain', tier: 'x' } },
      spec: { containers: [{ args: ['sleep', '1'], env: [{ name: 'A', value: '1' }] }] },
    });
    await ok('run never --image=busybox --restart=Never --command -- sh -c true');
    expect((await read('pod never')).spec).toMatchObject({
      restartPolicy: 'Never',
      containers: [{ command: ['sh', '-c', 'true'] }],
    });
    await ok('run served --image=nginx --port=80 --expose');
    expect((await read('service served')).spec).toMatchObject({
      selector: { run: 'served' },
      type: 'ClusterIP',
    });
    await ok(`run override --image=x --overrides '{"apiVersion":"v1","spec":{"nodeName":"n9"}}'`);
    expect((await read('pod override')).spec.nodeName).toBe('n9');
  });

  test('expose makes services of pods, controllers and services', async () => {
    await ok('create -f -', REPLICATION_CONTROLLER);
    await ok('create -f -', REPLICA_SET);
    await ok('expose pod plain --port=80 --name=of-pod');
    await ok('expose deployment web --port=80 --target-port=http --name=of-deployment --type=NodePort');
    await ok('expose rc old --port=8080 --name=of-rc --type=LoadBalancer --load-balancer-ip=192.0.2.1');
    await ok('expose rs set --port=80 --name=of-rs --cluster-ip=None');
    await ok(
      'expose service of-pod --port=443 --target-port=8443 --name=of-service --session-affinity=ClientIP',
    );
    await ok('expose deployment web --port=53 --protocol=UDP --name=udp --external-ip=192.0.2.9');
    const of = async (name: string): Promise<JsonObject> => (await read(`service ${name}`)).spec;
    expect(await of('of-pod')).toMatchObject({ selector: { app: 'plain', tier: 'x' } });
    expect(await of('of-deployment')).toMatchObject({
      ports: [{ targetPort: 'http' }],
      selector: { app: 'web' },
    });
    expect(await of('of-rc')).toMatchObject({ loadBalancerIP: '192.0.2.1', selector: { app: 'old' } });
    expect(await of('of-rs')).toMatchObject({ clusterIP: 'None' });
    expect(await of('of-service')).toMatchObject({
      sessionAffinity: 'ClientIP',
      ports: [{ targetPort: 8443 }],
    });
    expect(await of('udp')).toMatchObject({ externalIPs: ['192.0.2.9'], ports: [{ protocol: 'UDP' }] });
    expect(await ok('get services')).toMatch(
      /of-rc\s+LoadBalancer\s+10\.0\.0\.\d+\s+<pending>\s+8080:3\d+\/TCP/,
    );
  });

  test('the manifest of a service can be applied and replaced again', async () => {
    const manifest = `
apiVersion: v1
kind: Service
metadata: {name: again}
spec:
  type: NodePort
  selector: {app: again}
  ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]
`;
    await ok('apply -f -', manifest);
    const before = await read('service again');
    expect(await ok('apply -f -', manifest)).toContain('unchanged');
    await ok('replace -f -', manifest);
    expect((await read('service again')).spec).toEqual(before.spec);
    await ok('apply --server-side --force-conflicts -f -', manifest);
    expect((await read('service again')).spec).toEqual(before.spec);
  });
});

const REPLICATION_CONTROLLER = `
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 1
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: c, image: x}]}
`;

const REPLICA_SET = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set}
spec:
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec: {containers: [{name: c, image: x}]}
`;

test('autoscale and scale', async () => {
  await ok('autoscale deployment web --min=2 --max=5 --cpu-percent=80');
  expect(await ok('get hpa')).toMatch(/web\s+Deployment\/web\s+cpu: <unknown>\/80%\s+2\s+5\s+0/);
  await ok('autoscale rs set --max=3');
  await ok('scale deployment web --current-replicas=3 --replicas=4');
  expect(await refused('scale deployment web --current-replicas=3 --replicas=5')).toContain(
    'Expected replicas to be 3',
  );
  await ok('scale rc old --replicas=2');
  await ok('scale rs set --replicas=0');
  expect((await read('rs set')).spec.replicas).toBe(0);
});

/** What a deployment controller leaves behind: a replica set for each template there has been. */
async function keepRevision(name: string, revision: number): Promise<void> {
  const deployment = await read(`deployment ${name}`);
  const { uid } = deployment.metadata;
  const template = structuredClone(deployment.spec.template) as { metadata: { labels: JsonObject } };
  template.metadata.labels['pod-template-hash'] = `h${revision}`;
  await put('/apis/apps/v1/namespaces/default/replicasets', {
    metadata: {
      name: `${name}-h${revision}`,
      labels: template.metadata.labels,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true } as JsonObject,
      ],
    },
    spec: { replicas: 0, selector: { matchLabels: template.metadata.labels }, template },
  });
  await ok(`annotate deployment ${name} --overwrite deployment.kubernetes.io/revision=${revision}`);
}

async function keepTemplate(kind: string, name: string, revision: number): Promise<void> {
  const owner = await read(`${kind} ${name}`);
  const { uid, labels = {} } = owner.metadata;
  const template = { ...(owner.spec.template as JsonObject), $patch: 'replace' };
  await put('/apis/apps/v1/namespaces/default/controllerrevisions', {
    metadata: {
      name: `${name}-${revision}`,
      labels: { ...(labels as JsonObject), app: name },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: owner.kind, name, uid, controller: true } as JsonObject,
      ],
    },
    data: { spec: { template } },
    revision,
  });
}

describe('rollout', () => {
  const imageOf = async (what: string): Promise<unknown> =>
    ((await read(what)).spec as { template: { spec: { containers: JsonObject[] } } }).template.spec
      .containers[0]?.image;

  test('a deployment has a history, and can go back in it', async () => {
    await ok('create deployment roll --image=nginx:1');
    await keepRevision('roll', 1);
    await ok('set image deployment/roll nginx=nginx:2');
    await ok('annotate deployment roll kubernetes.io/change-cause=newer');
    await keepRevision('roll', 2);
    expect(await ok('rollout history deployment/roll')).toMatch(
      /REVISION\s+CHANGE-CAUSE\n1\s+<none>\n2\s+<none>/,
    );
    expect(await ok('rollout history deployment/roll --revision=1')).toContain('nginx:1');
    expect(await ok('rollout undo deployment/roll --dry-run=server')).toContain('rolled back');
    expect(await imageOf('deployment roll')).toBe('nginx:2');
    await ok('rollout undo deployment/roll');
    expect(await imageOf('deployment roll')).toBe('nginx:1');
    await ok('rollout undo deployment/roll --to-revision=2');
    expect(await imageOf('deployment roll')).toBe('nginx:2');
  });

  test('it is paused, resumed and restarted', async () => {
    await ok('rollout pause deployment/roll');
    expect((await read('deployment roll')).spec.paused).toBe(true);
    expect(await refused('rollout undo deployment/roll')).toContain('cannot rollback a paused deployment');
    expect(await refused('rollout pause deployment/roll')).toContain('is already paused');
    await ok('rollout resume deployment/roll');
    await ok('rollout restart deployment/roll');
    expect(JSON.stringify((await read('deployment roll')).spec.template)).toContain(
      'kubectl.kubernetes.io/restartedAt',
    );
  });

  test('its status is followed to the end', async () => {
    const deployment = await read('deployment roll');
    const { generation } = deployment.metadata;
    const status = {
      observedGeneration: generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    };
    const waiting = ok('rollout status deployment/roll --timeout=20s');
    const path = '/apis/apps/v1/namespaces/default/deployments/roll/status';
    const { code } = await cluster.request(
      'PATCH',
      path,
      { status },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(code).toBe(200);
    expect(await waiting).toContain('successfully rolled out');
  });

  test('daemon sets and stateful sets have a history of templates', async () => {
    for (const kind of ['DaemonSet', 'StatefulSet']) {
      const name = kind.toLowerCase();
      const manifest = (image: string): string => `
apiVersion: apps/v1
kind: ${kind}
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  ${kind === 'StatefulSet' ? 'serviceName: x' : 'minReadySeconds: 0'}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: c, image: "${image}"}]}
`;
      await ok('apply -f -', manifest('nginx:1'));
      await keepTemplate(name, name, 1);
      await ok('apply -f -', manifest('nginx:2'));
      await keepTemplate(name, name, 2);
      expect(await ok(`rollout history ${name}/${name}`)).toMatch(/1\s+<none>\n2\s+<none>/);
      await ok(`rollout undo ${name}/${name} --to-revision=1`);
      expect(await imageOf(`${name} ${name}`)).toBe('nginx:1');
      await ok(`rollout restart ${name}/${name}`);
    }
  });
});

test('set changes each part it names', async () => {
  await ok('create deployment parts --image=nginx:1');
  await ok('set image deployment/parts *=nginx:9');
  await ok('set env deployment/parts A=1 B=2');
  await ok('set env deployment/parts --from=configmap/cm --prefix=CM_');
  await ok('set env deployment/parts B-');
  expect(await ok('set env deployment/parts --list')).toContain('A=1');
  await ok('set resources deployment/parts --limits=cpu=200m,memory=512Mi --requests=cpu=100m');
  await ok('set serviceaccount deployment/parts robot');
  await ok('set selector service cip app=parts,tier=web');
  await ok('set subject rolebinding readers --user=bob --group=others');
  await ok('set subject clusterrolebinding ann-reads --serviceaccount=default:robot');
  const { template } = (await read('deployment parts')).spec as { template: { spec: JsonObject } };
  expect(template.spec).toMatchObject({
    serviceAccountName: 'robot',
    containers: [
      {
        image: 'nginx:9',
        resources: { limits: { cpu: '200m', memory: '512Mi' }, requests: { cpu: '100m' } },
        env: [{ name: 'A', value: '1' }, {}, {}],
      },
    ],
  });
  expect((await read('service cip')).spec.selector).toEqual({ app: 'parts', tier: 'web' });
  expect((await read('rolebinding readers')).subjects).toHaveLength(5);
  expect((await read('clusterrolebinding ann-reads')).subjects).toHaveLength(2);
});

describe('nodes', () => {
  beforeAll(async () => {
    for (const name of ['n1', 'n2']) await put('/api/v1/nodes', { metadata: { name } });
  });

  const place = (pod: string, node: string, path: string): Promise<void> =>
    put(path, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod },
      target: { kind: 'Node', name: node },
    });

  /** Of every new node, until its conditions say otherwise. */
  const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

  test('taint puts taints on and takes them off', async () => {
    await ok('taint nodes n1 dedicated=db:NoSchedule');
    await ok('taint nodes n1 dedicated=web:NoSchedule --overwrite');
    await ok('taint nodes --all spot:PreferNoSchedule');
    expect((await read('node n1')).spec.taints).toMatchObject([
      { key: 'spot', effect: 'PreferNoSchedule' },
      { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
      NOT_READY,
    ]);
    expect(await refused('taint nodes n1 dedicated=x:NoSchedule')).toContain('already has dedicated taint');
    await ok('taint nodes n1 dedicated- spot:PreferNoSchedule-');
    expect((await read('node n1')).spec.taints).toEqual([NOT_READY]);
  });

  test('pods are placed by a binding of the pod, or of the namespace', async () => {
    for (const name of ['p1', 'p2']) await ok(`run ${name} --image=x --labels=app=${name}`);
    await place('p1', 'n1', '/api/v1/namespaces/default/pods/p1/binding');
    await place('p2', 'n1', '/api/v1/namespaces/default/bindings');
    expect((await read('pod p2')).spec.nodeName).toBe('n1');
    expect((await read('pod p2')).status).toMatchObject({
      conditions: [{ type: 'PodScheduled', status: 'True' }],
    });
    const again = await cluster.request('POST', '/api/v1/namespaces/default/bindings', {
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p2' } },
      target: { kind: 'Node', name: 'n2' },
    });
    expect(again).toMatchObject({
      code: 409,
      json: {
        message:
          'Operation cannot be fulfilled on pods/binding "p2": pod p2 is already assigned to node "n1"',
      },
    });
    const absent = await cluster.request('POST', '/api/v1/namespaces/default/bindings', {
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'absent' }, target: { name: 'n2' } },
    });
    expect(absent).toMatchObject({ code: 404, json: { message: 'pods "absent" not found' } });
    expect((await cluster.request('GET', '/api/v1/namespaces/default/bindings')).code).toBe(405);
  });

  test('cordon keeps pods off, uncordon lets them on again', async () => {
    await ok('cordon n2');
    expect(await ok('get nodes')).toMatch(/n2\s+Unknown,SchedulingDisabled/);
    await ok('uncordon n2');
    expect((await read('node n2')).spec.unschedulable).toBeUndefined();
  });

  test('drain evicts what a budget lets go, and waits for the rest', async () => {
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    for (const name of ['p1', 'p2']) {
      await cluster.request('PATCH', `/api/v1/namespaces/default/pods/${name}/status`, running, {
        'content-type': 'application/strategic-merge-patch+json',
      });
    }
    await ok('create poddisruptionbudget keeps-p1 --selector=app=p1 --min-available=1');
    const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/keeps-p1/status';
    const status = (allowed: number): JsonObject => ({
      status: {
        observedGeneration: 1,
        disruptionsAllowed: allowed,
        currentHealthy: 1,
        desiredHealthy: 1 - allowed,
        expectedPods: 1,
      },
    });
    const merge = { 'content-type': 'application/merge-patch+json' };
    await cluster.request('PATCH', budget, status(0), merge);
    const blocked = await cluster.kubectl('drain n1 --force --grace-period=0 --timeout=3s');
    expect(blocked.code).toBe(1);
    expect(blocked.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
    expect((await ok('get pods -l app -o name')).split('\n')).not.toContain('pod/p2');
    await cluster.request('PATCH', budget, status(1), merge);
    expect(await ok('drain n1 --force --grace-period=0 --timeout=20s')).toContain('node/n1 drained');
    expect((await read('node n1')).spec.unschedulable).toBe(true);
    expect(await refused('get pod p1')).toContain('not found');
  });
});

test('certificate requests are approved and denied', async () => {
  for (const name of ['good', 'bad']) {
    await put('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
      metadata: { name },
      spec: { request: await makeRequest(name), signerName: 'example.com/signer', usages: ['client auth'] },
    });
  }
  expect(await ok('get csr good')).toMatch(
    /good\s+\d+s\s+example.com\/signer\s+kubernetes-admin\s+<none>\s+Pending/,
  );
  expect(await ok('certificate approve good')).toContain(
    'certificatesigningrequest.certificates.k8s.io/good approved',
  );
  expect(await ok('certificate deny bad')).toContain('denied');
  expect(await ok('get csr')).toMatch(/good\s.*Approved/);
  expect(await ok('get csr')).toMatch(/bad\s.*Denied/);
  expect(await refused('certificate approve bad')).toContain('is already Denied');
});

describe('get shows', () => {
  test('everything at the top level', async () => {
    const all = await ok('get all');
    for (const kind of [
      'pod',
      'service',
      'replicationcontroller',
      'deployment.apps',
      'replicaset.apps',
      'daemonset.apps',
      'statefulset.apps',
      'job.batch',
      'cronjob.batch',
      'horizontalpodautoscaler.autoscaling',
    ]) {
      expect(all, kind).toMatch(new RegExp(`^${kind}/`, 'm'));
    }
    expect(await ok('get all -A -o name')).toContain('deployment.apps/web');
  });

  test('each output', async () => {
    expect(await ok('get deployment web')).toMatch(
      /NAME\s+READY\s+UP-TO-DATE\s+AVAILABLE\s+AGE\nweb\s+0\/4\s+0\s+0/,
    );
    expect(await ok('get deployment web -o wide')).toMatch(
      /CONTAINERS\s+IMAGES\s+SELECTOR\nweb .*nginx:1\s+app=web/,
    );
    expect(await ok('get deployment web -o name')).toBe('deployment.apps/web');
    expect(await ok('get deployment web -o yaml')).toContain('kind: Deployment');
    expect(await ok("get deployment web -o jsonpath='{.spec.replicas}'")).toContain('4');
    expect(await ok('get deployment web -o jsonpath-as-json={.spec.replicas}')).toContain('4');
    expect(await ok('get deployments -o custom-columns=N:.metadata.name,R:.spec.replicas')).toMatch(
      /N\s+R\n/,
    );
    expect(await ok("get deployments '--template={{range .items}}{{.metadata.name}} {{end}}'")).toContain(
      'web',
    );
    writeFileSync(file('columns'), 'NAME REPLICAS\n.metadata.name .spec.replicas\n');
    expect(await ok(`get deployment web -o custom-columns-file=${file('columns')}`)).toMatch(/web\s+4/);
    writeFileSync(file('template'), '{{.kind}}');
    expect(await ok(`get deployment web -o go-template-file=${file('template')}`)).toBe('Deployment');
    writeFileSync(file('path'), '{.kind}');
    expect(await ok(`get deployment web -o jsonpath-file=${file('path')}`)).toBe('Deployment');
    expect(await ok('get deployment web -o json --show-managed-fields')).toContain('managedFields');
  });

  test('a selection, in an order, with labels', async () => {
    expect(await ok('get services --sort-by=.spec.type --no-headers')).toMatch(
      /ClusterIP[\s\S]*LoadBalancer/,
    );
    expect(await ok('get services --field-selector=spec.type=NodePort -o name')).toContain('service/np');
    expect(await ok('get deployments -l app=web --show-labels')).toMatch(/web .*app=web/);
    expect(await ok('get deployments -L app')).toMatch(/APP\n/);
    expect(await ok('get deployment,service web cip --ignore-not-found -o name')).toContain('service/cip');
    expect(await ok('get deployments --chunk-size=1 -o name')).toContain('deployment.apps/web');
    expect(await ok('get deployments --show-kind --no-headers')).toMatch(/^deployment.apps\//);
    expect(await ok('get --raw /api/v1/namespaces/default/services/cip')).toContain('"clusterIP"');
    expect(await ok('get deployment/web service/cip')).toMatch(/deployment.apps\/web[\s\S]*service\/cip/);
    expect(await ok('get deployment web --subresource=scale')).toMatch(/NAME\s+/);
    expect(await ok('get deployment web --subresource=status -o name')).toBe('deployment.apps/web');
  });

  test('a watch in lines, and with the kind of event', async () => {
    const selector = '--field-selector=metadata.name=seen';
    const watching = spawnKubectl(cluster, ['get', 'services', selector, '-w', '--output-watch-events']);
    try {
      await watchBegins(cluster, 'services');
      await ok('create service clusterip seen --tcp=80');
      await ok('delete service seen');
      await watching.says(/ADDED\s+seen\s+ClusterIP\s+10\.0\.0\.\d+[\s\S]*DELETED\s+seen/);
    } finally {
      watching.process.kill();
      await watching.ended;
    }
  });
});

test('describe tells of services, nodes, deployments and their like', async () => {
  expect(await ok('describe service np')).toMatch(
    /IP Families:\s+IPv4[\s\S]*IP:\s+10\.0\.0\.[\s\S]*NodePort:\s+80\s+30100/,
  );
  expect(await ok('describe deployment web')).toMatch(/Replicas:\s+4 desired/);
  expect(await ok('describe node n2')).toContain('Taints:');
  expect(await ok('describe hpa web')).toContain('resource cpu on pods');
  expect(await ok('describe cronjob often')).toContain('*/5 * * * *');
  expect(await ok('describe ingress in')).toContain('a.example.com');
  expect(await ok('describe quota q')).toContain('NotTerminating');
  expect(await ok('describe rolebinding readers')).toContain('robot');
  expect(await ok('describe csr good')).toContain('Approved');
});

test('delete takes by name, by selector, by file and altogether', async () => {
  await ok('delete service np');
  await ok('delete services -l app=web');
  await ok('delete -f - --ignore-not-found', REPLICA_SET);
  await ok('delete deployment --all');
  expect(await ok('get deployments -o name')).toBe('');
  await ok('delete pods --all --force --grace-period=0');
  await ok('create service nodeport np2 --tcp=80 --node-port=30100');
  await ok('delete services --all');
  // The server makes its own service again whenever it finds it gone, perhaps before the question.
  const rows = await database.query("SELECT name FROM allocations WHERE name <> 'kubernetes'");
  expect(rows).toEqual([]);
});
