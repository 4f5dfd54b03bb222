import { KINDS } from '../manifests.ts';
import { PODS_A_DEPLOYMENT } from './jobs.ts';

/** What a control plane has beside pods and nodes: a deployment, its replica set, its service and its endpoint slice. */

export interface Made {
  readonly resource: string;
  readonly collection: (namespace: string) => string;
  /** `$N` is the number of the deployment. */
  readonly manifest: (namespace: string) => object;
}

const of = (group: string, resource: string) => (namespace: string) =>
  `/apis/${group}/namespaces/${namespace}/${resource}`;

const labels = (deployment: string) => ({ app: deployment });

export const deploymentName = (number: number | string): string => `d-${number}`;

export function podTemplate(namespace: string, deployment: string): object {
  const { spec } = { spec: {}, ...KINDS.pods.manifest(namespace, '') };
  const { nodeName: _, ...unbound } = { nodeName: '', ...spec };
  return { metadata: { labels: labels(deployment) }, spec: unbound };
}

const replicas = (kind: string, name: string, { namespace, deployment }: Record<string, string>): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace, labels: labels(deployment ?? '') },
  spec: {
    replicas: PODS_A_DEPLOYMENT,
    selector: { matchLabels: labels(deployment ?? '') },
    template: podTemplate(namespace ?? '', deployment ?? ''),
  },
});

export const deployment = (namespace: string, name: string): object =>
  replicas('Deployment', name, { namespace, deployment: name });

export const replicaSet = (namespace: string, of: string, generation: number): object =>
  replicas('ReplicaSet', `${of}-${generation}`, { namespace, deployment: of });

export function endpointSlice(namespace: string, name: string, ready: number): object {
  const endpoints = Array.from({ length: PODS_A_DEPLOYMENT }, (_, at) => ({
    addresses: [`10.1.${at}.1`],
    conditions: { ready: at < ready, serving: true, terminating: false },
    nodeName: `node-${at}`,
    targetRef: { kind: 'Pod', name: `${name}-${at}`, namespace, uid: '0d4c1e9e-7f5d-4cf4-9b0e-0f3d8d6a8a11' },
  }));
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints,
  };
}

const service = (namespace: string, name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { clusterIP: 'None', selector: labels(name), ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
});

const NAME = deploymentName('$N');

export const DEPLOYMENTS = of('apps/v1', 'deployments');
export const REPLICA_SETS = of('apps/v1', 'replicasets');
export const SLICES = of('discovery.k8s.io/v1', 'endpointslices');

/** What is there before anything is rolled. */
export const MADE: readonly Made[] = [
  { resource: 'deployments', collection: DEPLOYMENTS, manifest: (namespace) => deployment(namespace, NAME) },
  {
    resource: 'replicasets',
    collection: REPLICA_SETS,
    manifest: (namespace) => replicaSet(namespace, NAME, 0),
  },
  {
    resource: 'services',
    collection: (namespace) => `/api/v1/namespaces/${namespace}/services`,
    manifest: (namespace) => service(namespace, NAME),
  },
  {
    resource: 'endpointslices',
    collection: SLICES,
    manifest: (namespace) => endpointSlice(namespace, NAME, PODS_A_DEPLOYMENT),
  },
];
