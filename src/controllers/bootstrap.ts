import type { ResourceOf } from '../api/names.ts';
import { SYSTEM_PRIORITIES } from '../api/system-priorities.ts';
import type { Namespace } from '../api/types/core/v1.ts';
import type { PriorityClass } from '../api/types/scheduling/v1.ts';
import type { Client } from '../verbs/client/client.ts';

/** What a cluster cannot be without. It is created once; what is there already stays as it is. */

const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
const PRIORITIES: ResourceOf<PriorityClass> = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

/** Namespaces every cluster has. kube-system and cluster-system are the same thing to two dialects, and both exist. */
export const SYSTEM_NAMESPACES = [
  'default',
  'kube-system',
  'cluster-system',
  'kube-public',
  'kube-node-lease',
];

/** @throws StatusError, StorageError */
export async function bootstrapNamespaces(client: Client): Promise<void> {
  await Promise.all(SYSTEM_NAMESPACES.map((name) => client.ensure(NAMESPACES, toNamespace(name))));
}

/** A namespace that is there already is as good. @throws StatusError */
export async function createNamespace(client: Client, name: string): Promise<void> {
  await client.create(NAMESPACES, toNamespace(name));
}

const toNamespace = (name: string): Namespace => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name },
  spec: {},
  status: {},
});

/** The priority classes of the cluster's own parts. @throws StatusError, StorageError */
export async function bootstrapPriorities(client: Client): Promise<void> {
  await Promise.all(
    Object.entries(SYSTEM_PRIORITIES).map(([name, fields]) =>
      client.ensure(PRIORITIES, {
        kind: 'PriorityClass',
        apiVersion: 'scheduling.k8s.io/v1',
        metadata: { name },
        ...fields,
        preemptionPolicy: 'PreemptLowerPriority',
      }),
    ),
  );
}
