import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';

/** What the controllers of a cluster make of a Deployment, written in their place. Answers the name of the pod. */
export async function rollOut(cluster: Cluster, deployment: string, namespace: string): Promise<string> {
  const get = `/apis/apps/v1/namespaces/${namespace}/deployments/${deployment}`;
  const { metadata, spec } = (await cluster.request('GET', get)).json;
  const labels = { app: deployment, 'pod-template-hash': '5c4b9' };
  const name = `${deployment}-5c4b9`;
  const ownedBy = (kind: string, owner: { name: string; uid: string }) => [
    { apiVersion: 'apps/v1', kind, name: owner.name, uid: owner.uid, controller: true },
  ];
  const make = async (path: string, controller: string, body: object) => {
    const as = {
      'impersonate-user': `system:serviceaccount:kube-system:${controller}`,
      'impersonate-group': 'system:masters',
    };
    const { code, json, text } = await cluster.request('POST', path, body, as);
    expect(code, text).toBe(201);
    return json;
  };
  const set = await make(`/apis/apps/v1/namespaces/${namespace}/replicasets`, 'deployment-controller', {
    metadata: { name, labels, ownerReferences: ownedBy('Deployment', metadata) },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: spec.template.spec },
    },
  });
  await make(`/api/v1/namespaces/${namespace}/pods`, 'replicaset-controller', {
    metadata: { name: `${name}-x7k2p`, labels, ownerReferences: ownedBy('ReplicaSet', set.metadata) },
    spec: spec.template.spec,
  });
  return `${name}-x7k2p`;
}
