/** The kinds of objects that are written and read, in sizes as clusters have them. */

export type KindName = 'pods' | 'configmaps' | 'leases' | 'nodes' | 'events';

export interface Kind {
  readonly group: string;
  /** The path of its collection. */
  collection(namespace: string): string;
  /** A manifest whose name, and anything else, may be a template (load/template.ts). */
  manifest(namespace: string, name: string): object;
}

const core = (resource: string) => (namespace: string) => `/api/v1/namespaces/${namespace}/${resource}`;

export const KINDS: Readonly<Record<KindName, Kind>> = {
  pods: { group: '', collection: core('pods'), manifest: pod },
  configmaps: { group: '', collection: core('configmaps'), manifest: configMap },
  leases: {
    group: 'coordination.k8s.io',
    collection: (namespace) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    manifest: lease,
  },
  nodes: { group: '', collection: () => '/api/v1/nodes', manifest: node },
  events: { group: '', collection: core('events'), manifest: event },
};

/** 2.2 kB as a client sends it. `$S` makes each update a change. */
function pod(namespace: string, name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: {
        app: 'web',
        'app.kubernetes.io/name': 'web',
        'app.kubernetes.io/part-of': 'shop',
        'pod-template-hash': '6d4b75cb6d',
        track: 'stable',
      },
      annotations: {
        'bench.example.com/turn': '$S',
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '8080',
      },
      // Of a kind that is not served: pods of a replica set that is not there would be deleted by the garbage collector.
      ownerReferences: [
        {
          apiVersion: 'apps.bench/v1',
          kind: 'ReplicaSet',
          name: 'web-6d4b75cb6d',
          uid: '0d4c1e9e-7f5d-4cf4-9b0e-0f3d8d6a8a11',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: podSpec(),
  };
}

const CONTAINERS: readonly (readonly [string, number])[] = [
  ['web', 8080],
  ['proxy', 15001],
];

export function podSpec(containers = CONTAINERS.length): object {
  const volumes = [
    { name: 'config', configMap: { name: 'web-config', defaultMode: 420 } },
    { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
  ];
  return {
    nodeName: 'node-$M',
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
    priority: 0,
    enableServiceLinks: true,
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    volumes,
    containers: CONTAINERS.slice(0, containers).map(([name, port]) => container(name, port)),
  };
}

function container(name: string, port: number): object {
  return {
    name,
    image: `registry.example.com/shop/${name}:1.42.0`,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    readinessProbe: {
      httpGet: { path: '/ready', port, scheme: 'HTTP' },
      periodSeconds: 10,
      timeoutSeconds: 1,
    },
    volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
}

/** What a kubelet reports of its node. `$S` makes each report a change. */
export function nodeStatus(): object {
  const [at, turn] = ['2026-01-01T00:00:00Z', 'turn $S'];
  const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    capacity: resources,
    allocatable: resources,
    conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Kubelet',
      message: turn,
      lastHeartbeatTime: at,
      lastTransitionTime: at,
    })),
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  };
}

/** What a kubelet reports of a pod. */
export function podStatus(containers = CONTAINERS.length): object {
  const since = '2026-01-01T00:00:00Z';
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: 'Running',
    message: 'turn $S',
    hostIP: '10.0.0.1',
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    startTime: since,
    qosClass: 'Burstable',
    conditions: conditions.map((type) => ({ type, status: 'True', lastTransitionTime: since })),
    containerStatuses: CONTAINERS.slice(0, containers).map(([name]) => ({
      name,
      image: `registry.example.com/shop/${name}:1.42.0`,
      imageID: `registry.example.com/shop/${name}@sha256:${'a1b2c3d4'.repeat(8)}`,
      containerID: `containerd://${'0f1e2d3c'.repeat(8)}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: since } },
    })),
  };
}

/** 1 kB. */
function configMap(namespace: string, name: string): object {
  const line = 'server.tuning.parameter=some-value-that-is-fairly-typical\n';
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'web' } },
    data: { turn: '$S', 'application.properties': line.repeat(14) },
  };
}

function lease(namespace: string, name: string): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: '$T' },
  };
}

/** Nodes are in no namespace: this is how they are found and removed. */
export const NODE_LABEL = 'bench.example.com/load';

function node(_namespace: string, name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, [NODE_LABEL]: 'true' } },
    spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'], providerID: `example://${name}` },
  };
}

function event(namespace: string, name: string): object {
  const { apiVersion, kind } = { apiVersion: 'v1', kind: 'Pod' };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: { apiVersion, kind, namespace, name: 'p-1' },
    reason: 'Scheduled',
    message: `Successfully assigned ${namespace}/p-1 to node-1`,
    type: 'Normal',
    source: { component: 'default-scheduler' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  };
}

/** `object` with the version it was last seen at. */
export function atVersion(object: object): object {
  const { metadata } = { metadata: {}, ...object };
  return { ...object, metadata: { ...metadata, resourceVersion: '$V' } };
}
