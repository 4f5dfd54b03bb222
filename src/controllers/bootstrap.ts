import { StatusError } from '../api/status.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** The namespaces of every cluster. kube-system and cluster-system are the names of two dialects, and both exist. */
export const SYSTEM_NAMESPACES = [
  'default',
  'kube-system',
  'cluster-system',
  'kube-public',
  'kube-node-lease',
];

/** Creates the missing system namespaces; existing ones are not changed. */
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
