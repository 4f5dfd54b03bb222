import { StatusError } from '../api/status.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** Namespaces every cluster has. kube-system and cluster-system are the same thing to two dialects, and both exist. */
export const SYSTEM_NAMESPACES = [
  'default',
  'kube-system',
  'cluster-system',
  'kube-public',
  'kube-node-lease',
];

/** Creates what a cluster cannot be without, once; what is there already stays as it is. */
export async function bootstrapNamespaces(registry: Registry, writer: ObjectWriter): Promise<void> {
  await Promise.all(
    SYSTEM_NAMESPACES.map(async (name) => {
      try {
        await createNamespace(registry, writer, name);
      } catch (error) {
        if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
      }
    }),
  );
}

/** @throws StatusError */
export async function createNamespace(registry: Registry, writer: ObjectWriter, name: string): Promise<void> {
  const definition = registry.findStorage(NAMESPACES);
  if (definition === undefined) throw new Error('the registry has no namespaces');
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: {}, status: {} };
  await writer.create(new ControllerIdentity('pg-apiserver').context(definition, ''), namespace);
}
