import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFakeCluster, type FakeCluster, type RunOptions } from './fake-kubectl.ts';
import { ANSWERS, badImage, explanation, HISTORY } from './incident.ts';

/** What each command prints, whole. */
let cluster: FakeCluster;
const zone = process.env.TZ;

beforeAll(() => {
  process.env.TZ = 'UTC';
  cluster = createFakeCluster();
});

afterAll(() => {
  cluster[Symbol.dispose]();
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

beforeEach(() => {
  cluster.answers = { ...ANSWERS };
});

async function printed(line: string, options?: RunOptions, code = 0): Promise<string> {
  const outcome = await cluster.run(line.split(' '), options);
  expect(outcome).toMatchObject({ stderr: '', code });
  return `\n${outcome.stdout}`;
}

test('log of one object', async () => {
  expect(await printed('log deploy/web')).toMatchInlineSnapshot(`
    "
    4713  2026-11-22 14:08:01 (119s ago)  updated by system:serviceaccount:kube-system:deployment-controller via kube-controller-manager
        ~ status.observedGeneration: 2 → 3

    4712  2026-11-22 14:08:00 (119s ago)  updated by alice via kubectl-edit
        ~ spec.template.spec.containers[name=web].image: nginx:1.26 → nginx:9.99
        ~ spec.replicas: 2 → 3
        + metadata.labels.tier: gold
        - spec.paused: true

    4700  2026-11-21 09:00:00 (29h ago)  created by bob via kubectl-create
    "
  `);
});

test('log of everything names the objects, shows texts by their lines, and hostile values escaped', async () => {
  expect(await printed('log -A')).toMatchInlineSnapshot(`
    "
    4713  2026-11-22 14:08:01 (119s ago)  deployment.apps/web in shop updated by system:serviceaccount:kube-system:deployment-controller via kube-controller-manager
        ~ status.observedGeneration: 2 → 3

    4712  2026-11-22 14:08:00 (119s ago)  deployment.apps/web in shop updated by alice via kubectl-edit
        ~ spec.template.spec.containers[name=web].image: nginx:1.26 → nginx:9.99
        ~ spec.replicas: 2 → 3
        + metadata.labels.tier: gold
        - spec.paused: true

    4709  2026-11-22 13:10:00 (60m ago)  configmap/settings in shop deleted by alice via kubectl-delete

    4705  2026-11-22 13:00:00 (70m ago)  configmap/settings in shop updated by alice via kubectl-edit
        ~ data["app.conf"]:
             a=1
            -b=2
            +b=4
             c=3
        ~ data.hostile: plain → "\\e[31mred\\e[0m\\r\\u202egnp.exe"

    4700  2026-11-21 09:00:00 (29h ago)  deployment.apps/web in shop created by bob via kubectl-create
    "
  `);
});

test('log, a line each', async () => {
  expect(await printed('log -A --oneline')).toMatchInlineSnapshot(`
    "
    REVISION   AGE    NAMESPACE   OBJECT                DONE      USER                                                      CHANGED
    4713       119s   shop        deployment.apps/web   updated   system:serviceaccount:kube-system:deployment-controller   status.observedGeneration
    4712       119s   shop        deployment.apps/web   updated   alice                                                     spec.template.spec.containers[name=web].image, spec.replicas, metadata.labels.tier, spec.paused
    4709       60m    shop        configmap/settings    deleted   alice
    4705       70m    shop        configmap/settings    updated   alice                                                     data["app.conf"], data.hostile
    4700       29h    shop        deployment.apps/web   created   bob
    "
  `);
});

test('log, a line each, on a terminal of 80 columns', async () => {
  expect(await printed('log -A --oneline', { columns: 80 })).toMatchInlineSnapshot(`
    "
    REVISION   AGE    NAMESPACE   OBJECT                DONE      USER                       CHANGED
    4713       119s   shop        deployment.apps/web   updated   …m:deployment-controller   observe…
    4712       119s   shop        deployment.apps/web   updated   alice                      image, …
    4709       60m    shop        configmap/settings    deleted   alice
    4705       70m    shop        configmap/settings    updated   alice                      data["a…
    4700       29h    shop        deployment.apps/web   created   bob
    "
  `);
});

test('log -o wide tells where it came from', async () => {
  expect(await printed('log deploy/web -o wide')).toMatchInlineSnapshot(`
    "
    4713  2026-11-22 14:08:01 (119s ago)  updated by system:serviceaccount:kube-system:deployment-controller via kube-controller-manager
        uid 6f1d
        ~ status.observedGeneration: 2 → 3

    4712  2026-11-22 14:08:00 (119s ago)  updated by alice via kubectl-edit
        from 10.0.0.7
        agent kubectl/v1.31.9
        request r-1
        uid 6f1d
        generation 3
        ~ spec.template.spec.containers[name=web].image: nginx:1.26 → nginx:9.99
        ~ spec.replicas: 2 → 3
        + metadata.labels.tier: gold
        - spec.paused: true

    4700  2026-11-21 09:00:00 (29h ago)  created by bob via kubectl-create
        uid 6f1d
    "
  `);
});

test('log of an object, what it owns, and what Events say of them', async () => {
  expect(await printed('log deploy/web --related')).toMatchInlineSnapshot(`
    "
    4724  2026-11-22 14:09:30 (30s ago)  pod/web-7d4b9-x2x7k Warning BackOff (5 times)
        Back-off pulling\\nimage "nginx:9.99"

    4717  2026-11-22 14:08:02 (118s ago)  replicaset.apps/web-7d4b9 created by system:serviceaccount:kube-system:deployment-controller via kube-controller-manager
        because of revision 4712

    4712  2026-11-22 14:08:00 (119s ago)  deployment.apps/web updated by alice via kubectl-edit
        ~ spec.template.spec.containers[name=web].image: nginx:1.26 → nginx:9.99
        ~ spec.replicas: 2 → 3
        + metadata.labels.tier: gold
        - spec.paused: true
    "
  `);
  expect(await printed('log deploy/web --related --oneline --limit 2')).toMatchInlineSnapshot(`
    "
    REVISION   AGE    OBJECT                      DONE      USER                                                      CHANGED
    4724       30s    pod/web-7d4b9-x2x7k         BackOff   system:node:n1                                            Back-off pulling\\nimage "nginx:9.99"
    4717       118s   replicaset.apps/web-7d4b9   created   system:serviceaccount:kube-system:deployment-controller
    "
  `);
});

test('diff shows what the last change did, other than to the status', async () => {
  expect(await printed('diff deploy/web', {}, 1)).toMatchInlineSnapshot(`
    "
    diff deployment.apps/web in shop
    --- before revision 4712
    +++ revision 4712, 2026-11-22 14:08:00 (119s ago), alice via kubectl-edit
    @@ -4,9 +4,9 @@
       name: web
       namespace: shop
     spec:
    -  replicas: 2
    +  replicas: 3
       template:
         spec:
           containers:
    -      - image: nginx:1.26
    +      - image: nginx:9.99
             name: web
    "
  `);
});

test('diff between two moments', async () => {
  expect(await printed('diff deploy/web --from 10m -U0', {}, 1)).toMatchInlineSnapshot(`
    "
    diff deployment.apps/web in shop
    --- 2026-11-22 14:00:00
    +++ now
    @@ -7,1 +7,1 @@
    -  replicas: 2
    +  replicas: 3
    @@ -11,1 +11,1 @@
    -      - image: nginx:1.26
    +      - image: nginx:9.99
    "
  `);
});

test('blame', async () => {
  expect(await printed('blame deploy/web')).toMatchInlineSnapshot(`
    "
    REVISION  USER   MANAGER          AGE
    -                                      │ apiVersion: apps/v1
    -                                      │ kind: Deployment
                                           │ metadata:
                                           │   annotations:
    -                                      │     a.example/b: "yes"
                                           │   labels:
    4712      alice  kubectl-edit    119s  │     tier: gold
    4700      bob    kubectl-create   29h  │   name: web
                                           │ spec:
    4712      alice  kubectl-edit    119s  │   replicas: 3
                                           │   template:
                                           │     spec:
                                           │       containers:
    4700      bob    kubectl-create   29h  │       - args: ["-c","sleep 1"]
    4712      alice  kubectl-edit    119s  │         image: nginx:9.99
    4700      bob    kubectl-create   29h  │         name: web
                                           │         ports:
    4700      bob    kubectl-create   29h  │         - containerPort: 80
    4700      bob    kubectl-create   29h  │           protocol: TCP
    "
  `);
});

test('blame on a terminal of 60 columns leaves room for the fields', async () => {
  expect(await printed('blame deploy/web --path spec.replicas', { columns: 60 })).toMatchInlineSnapshot(`
    "
    REVISION  USER    AGE
                           │ spec:
    4712      alice  119s  │   replicas: 3
    "
  `);
});

test('blame of a part, with moments', async () => {
  expect(await printed('blame deploy/web --path .spec.template -o wide')).toMatchInlineSnapshot(`
    "
    REVISION  USER   MANAGER         WHEN                  AGE
                                                                │ spec:
                                                                │   template:
                                                                │     spec:
                                                                │       containers:
    4700      bob    kubectl-create  2026-11-21 09:00:00   29h  │       - args: ["-c","sleep 1"]
    4712      alice  kubectl-edit    2026-11-22 14:08:00  119s  │         image: nginx:9.99
    4700      bob    kubectl-create  2026-11-21 09:00:00   29h  │         name: web
                                                                │         ports:
    4700      bob    kubectl-create  2026-11-21 09:00:00   29h  │         - containerPort: 80
    4700      bob    kubectl-create  2026-11-21 09:00:00   29h  │           protocol: TCP
    "
  `);
});

test('why', async () => {
  expect(await printed('why pod/web-7d4b9-x2x7k')).toMatchInlineSnapshot(`
    "
    pod/web-7d4b9-x2x7k in shop: because alice updated deployment.apps/web in shop via kubectl-edit, 119s ago.

      4719  2026-11-22 14:08:03 (117s ago)  pod/web-7d4b9-x2x7k in shop created
          by system:serviceaccount:kube-system:replicaset-controller via kube-controller-manager
       ↑  certain: owns the pod
      4717  2026-11-22 14:08:02 (118s ago)  replicaset.apps/web-7d4b9 in shop created
          by system:serviceaccount:kube-system:deployment-controller via kube-controller-manager
       ↑  likely: owns the replica set
          its template became that of the replica set
      4712  2026-11-22 14:08:00 (119s ago)  deployment.apps/web in shop updated
          by alice via kubectl-edit
          ~ spec.template.spec.containers[name=web].image: nginx:1.26 → nginx:9.99
          ~ spec.replicas: 2 → 3
          + metadata.labels.tier: gold
          - spec.paused: true

    What else was written with it:
      certain: The same request, r-1, wrote it.
        4714  configmap/flags in shop updated
      possible: alice wrote it with the same client within 3 seconds.
        4711  configmap/settings in shop updated
        4710  configmap/red\\x1b[31m in shop updated
    "
  `);
});

test('why tells what else was written with the change that began it, and in all forms', async () => {
  const after = (text: string): string => text.slice(text.indexOf('\n\nWhat else') + 1);
  expect(after(await printed('why pod/web-7d4b9-x2x7k -o wide'))).toMatchInlineSnapshot(`
    "
    What else was written with it:
      certain: The same request, r-1, wrote it.
        4714  2026-11-22 14:08:00 (119s ago)  configmap/flags in shop updated by alice via kubectl-edit
      possible: alice wrote it with the same client within 3 seconds.
        4711  2026-11-22 14:08:00 (119s ago)  configmap/settings in shop updated by alice via kubectl-edit
        4710  2026-11-22 14:08:00 (119s ago)  configmap/red\\x1b[31m in shop updated by alice via kubectl-edit
    "
  `);
  const { siblings } = JSON.parse(await printed('why pod/web-7d4b9-x2x7k -o json'));
  expect(siblings).toEqual(explanation.siblings);
  expect(await printed('why pod/web-7d4b9-x2x7k -o yaml')).toContain('\nsiblings:\n');
  cluster.answers[`${HISTORY}/revisions/4719/why`] = {
    body: { ...explanation, siblings: explanation.siblings.flatMap((one) => [one, one, one]) },
  };
  expect(await printed('why pod/web-7d4b9-x2x7k')).toMatch(/\n {2}… 3 more: -o wide shows them\n$/);
  expect(await printed('why pod/web-7d4b9-x2x7k -o wide')).not.toContain('…');
});

test('who', async () => {
  expect(await printed('who -A')).toMatchInlineSnapshot(`
    "
    USER                                                      MANAGER                   CHANGES   LAST   OBJECTS
    alice                                                     kubectl-edit                    2   119s   deployment.apps/web in shop, configmap/settings in shop
    alice                                                     kubectl-delete                  1   60m    configmap/settings in shop
    bob                                                       kubectl-create                  1   29h    deployment.apps/web in shop
    system:serviceaccount:kube-system:deployment-controller   kube-controller-manager         1   119s   deployment.apps/web in shop
    "
  `);
});

test('deleted leaves out what is there again', async () => {
  expect(await printed('deleted')).toMatchInlineSnapshot(`
    "
    OBJECT                DELETED   REVISION   BY
    pod/web-7d4b9-x2x7k   60m       4715       system:serviceaccount:kube-system:replicaset-controller
    configmap/settings    60m       4709       alice
    "
  `);
});

test('deleted -o wide tells for whom a controller did it', async () => {
  expect(await printed('deleted -o wide')).toMatchInlineSnapshot(`
    "
    OBJECT                DELETED   REVISION   UID    MANAGER                   ADDRESS   BY                                                        BECAUSE
    pod/web-7d4b9-x2x7k   60m       4715       8b3f   kube-controller-manager             system:serviceaccount:kube-system:replicaset-controller   alice updated deployment.apps/web in shop via kubectl-edit
    configmap/settings    60m       4709       9c40   kubectl-delete                      alice
    "
  `);
});

test('undo --dry-run', async () => {
  expect(await printed('undo deploy/web --dry-run')).toMatchInlineSnapshot(`
    "
    Undo of revision 4712, by which alice updated deployment.apps/web in shop via kubectl-edit (2026-11-22 14:08:00, 119s ago):
    deployment.apps/web in shop would be updated
        ~ spec.template.spec.containers[name=web].image: nginx:9.99 → nginx:1.26
    "
  `);
});

test('show', async () => {
  expect(await printed('show deploy/web --at 4711')).toMatchInlineSnapshot(`
    "
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
      resourceVersion: "4700"
    spec:
      replicas: 2
      template:
        spec:
          containers:
          - image: nginx:1.26
            name: web
    "
  `);
});

test('colours go to a terminal, unless NO_COLOR is set or --color says otherwise', async () => {
  const isColourful = (text: string): boolean => text.includes('\u001b[');
  const terminal = { columns: 100, env: { NO_COLOR: '' } };
  expect(isColourful(await printed('log deploy/web', terminal))).toBe(true);
  expect(isColourful(await printed('log deploy/web', { columns: 100 }))).toBe(false);
  expect(isColourful(await printed('log deploy/web --color never', terminal))).toBe(false);
  expect(isColourful(await printed('log deploy/web', { env: { NO_COLOR: '' } }))).toBe(false);
  expect(isColourful(await printed('log deploy/web --color always'))).toBe(true);
});

test('the output goes through the pager of a terminal', async () => {
  const pager = { columns: 80, env: { KUBECTL_HISTORY_PAGER: '/bin/cat >/dev/null' } };
  expect(await printed('log deploy/web', pager)).toBe('\n');
  expect(await printed('log deploy/web --no-pager', pager)).toContain('4712');
});

test('a dumb terminal has no pager, unless one is named', async () => {
  writeFileSync(join(cluster.folder, 'less'), '#!/bin/sh\nexec /bin/cat >/dev/null\n', { mode: 0o755 });
  const dumb = { columns: 80, env: { PAGER: undefined, TERM: 'dumb' } };
  expect(await printed('log deploy/web', dumb)).toContain('4712');
  expect(await printed('log deploy/web', { ...dumb, env: { PAGER: undefined } })).toBe('\n');
  rmSync(join(cluster.folder, 'less'));
});

test('values too long for the line are shown from where they differ, and never alike', async () => {
  const text = 'registry.example.com/teams/payments/backend/checkout-service:1.0.';
  const changes = [
    { path: 'spec.image', old: `${text}1`, new: `${text}2` },
    { path: 'spec.args', old: ['a'.repeat(200), 'b'], new: ['a'.repeat(200), 'c'] },
    { path: 'spec.short', old: 1, new: 'x'.repeat(99) },
  ];
  cluster.answers[
    `${HISTORY}/revisions?fieldSelector=object.resource=deployments.apps,object.namespace=shop,object.name=web&limit=500`
  ] = { body: { items: [{ ...badImage, changes }] } };
  expect(await printed('log deploy/web', { columns: 60 })).toMatchInlineSnapshot(`
    "
    4712  2026-11-22 14:08:00 (119s ago)  updated by alice via kubectl-edit
        ~ spec.image: …ice:1.0.1 → …ice:1.0.2
        ~ spec.args: …aaaaa","b"] → …aaaaa","c"]
        ~ spec.short: 1 → xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    "
  `);
});

test('a pager that is not there loses nothing', async () => {
  const { code, stdout, stderr } = await cluster.run(['log', 'deploy/web'], {
    columns: 80,
    env: { PAGER: '/nowhere/less -R' },
  });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'the pager /nowhere/less is not there; PAGER or KUBECTL_HISTORY_PAGER names it\n',
  });
  expect(stdout).toContain('4712');
});
