import { StatusError } from '../api/status.ts';
import { SYSTEM_PRIORITIES } from '../api/system-priorities.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

/** Creates the missing priority classes of system components; existing ones are not changed. @throws StatusError */
export async function bootstrapPriorities(registry: Registry, writer: ObjectWriter): Promise<void> {
  const definition = registry.findStorage({ group: 'scheduling.k8s.io', resource: 'priorityclasses' });
  if (definition === undefined) throw new Error('the registry has no priority classes');
  const identity = new ControllerIdentity('pg-apiserver');
  await Promise.all(
    Object.entries(SYSTEM_PRIORITIES).map(async ([name, fields]) => {
      const priority = {
        kind: 'PriorityClass',
        apiVersion: 'scheduling.k8s.io/v1',
        metadata: { name },
        ...fields,
        preemptionPolicy: 'PreemptLowerPriority',
      };
      try {
        await writer.create(identity.context(definition, ''), priority);
      } catch (error) {
        if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
      }
    }),
  );
}
