import type { JsonObject } from '../../src/api/object-meta.ts';

/** The least a pod can be. */
export const SMALL: JsonObject = { spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] } };

const SELECTOR: JsonObject = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['front'] }],
};

/** A pod that uses nearly everything there is. */
export const FULL: JsonObject = {
  metadata: {
    name: 'web',
    labels: { app: 'web', track: 'stable' },
    annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-10' },
  },
  spec: {
    serviceAccountName: 'runner',
    nodeSelector: { disk: 'fast' },
    hostname: 'web',
    subdomain: 'site',
    priorityClassName: 'high',
    runtimeClassName: 'gvisor',
    preemptionPolicy: 'Never',
    activeDeadlineSeconds: 600,
    os: { name: 'linux' },
    overhead: { cpu: '10m' },
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['10.0.0.10', 'fd00::10'],
      searches: ['example.com', 'svc.cluster.local.'],
      options: [{ name: 'ndots', value: '2' }],
    },
    hostAliases: [{ ip: '10.1.1.1', hostnames: ['db.example.com'] }],
    readinessGates: [{ conditionType: 'example.com/ready' }],
    schedulingGates: [{ name: 'example.com/quota' }],
    imagePullSecrets: [{ name: 'registry' }],
    tolerations: [
      {
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
      { key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
      { operator: 'Exists' },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        minDomains: 2,
        labelSelector: SELECTOR,
        matchLabelKeys: ['pod-template-hash'],
      },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'cpu', operator: 'Gt', values: ['4'] }],
              matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 10, preference: { matchExpressions: [{ key: 'ssd', operator: 'Exists' }] } },
        ],
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: SELECTOR, matchLabelKeys: ['track'] },
        ],
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: SELECTOR,
              namespaces: ['default'],
            },
          },
        ],
      },
    },
    securityContext: {
      runAsUser: 1000,
      fsGroup: 2000,
      fsGroupChangePolicy: 'OnRootMismatch',
      supplementalGroups: [3000],
      sysctls: [{ name: 'net.core.somaxconn', value: '1024' }],
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [
      { name: 'cache', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'config', configMap: { name: 'settings', items: [{ key: 'a', path: 'a.txt', mode: 292 }] } },
      { name: 'secret', secret: { secretName: 'keys' } },
      { name: 'disk', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'block', persistentVolumeClaim: { claimName: 'raw' } },
      { name: 'host', hostPath: { path: '/var/log', type: 'Directory' } },
      { name: 'share', nfs: { server: 'files', path: '/export' } },
      { name: 'driver', csi: { driver: 'files.example.com' } },
      {
        name: 'scratch',
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        },
      },
      {
        name: 'all',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
        },
      },
    ],
    initContainers: [
      { name: 'setup', image: 'busybox:1.36', command: ['true'] },
      {
        name: 'proxy',
        image: 'proxy:1',
        restartPolicy: 'Always',
        startupProbe: { tcpSocket: { port: 8080 } },
      },
    ],
    containers: [
      {
        name: 'main',
        image: 'nginx:1.27',
        ports: [{ name: 'http', containerPort: 80, hostPort: 8080 }],
        envFrom: [{ prefix: 'APP_', configMapRef: { name: 'settings' } }],
        env: [
          { name: 'A', value: '1' },
          { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
          { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } },
        ],
        resources: {
          limits: { cpu: '1', memory: '1Gi', 'nvidia.com/gpu': '1' },
          requests: { cpu: '500m', memory: '1Gi' },
        },
        volumeMounts: [
          { name: 'cache', mountPath: '/cache' },
          { name: 'config', mountPath: '/config', subPath: 'a.txt', readOnly: true },
          { name: 'all', mountPath: '/var/run/all', readOnly: true, recursiveReadOnly: 'IfPossible' },
        ],
        volumeDevices: [{ name: 'block', devicePath: '/dev/xvda' }],
        livenessProbe: { httpGet: { port: 'http', httpHeaders: [{ name: 'X-Test', value: '1' }] } },
        readinessProbe: { grpc: { port: 9000 }, successThreshold: 2 },
        startupProbe: { exec: { command: ['true'] }, terminationGracePeriodSeconds: 10 },
        lifecycle: { preStop: { sleep: { seconds: 5 } } },
        securityContext: { privileged: false, capabilities: { drop: ['ALL'] } },
      },
      { name: 'side', image: 'side:1' },
    ],
  },
};
