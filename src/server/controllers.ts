import { repairAllocations } from '../controllers/allocation-repair.ts';
import { bootstrapNamespaces } from '../controllers/bootstrap.ts';
import { ControllerIdentity } from '../controllers/identity.ts';
import { NamespaceDeletion } from '../controllers/namespace-deletion.ts';
import { bootstrapPriorities } from '../controllers/priority-bootstrap.ts';
import { QuotaUsage } from '../controllers/quota-usage.ts';
import { RoleAggregation } from '../controllers/role-aggregation.ts';
import { bootstrapRoles } from '../controllers/role-bootstrap.ts';
import type { Foundation } from './foundation.ts';
import { createNamespaceObjects } from './namespace-objects.ts';
import { createPhase, type Phase } from './phase.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';
import type { WritingPhase } from './writing.ts';

export interface ControllerParts {
  readonly storage: StoragePhase;
  readonly writing: WritingPhase;
  /** Authority of the serving certificate, in PEM form. */
  readonly servingCa: string;
}

/** The fourth phase: creates the objects that every cluster has, and does the work of controllers that no cluster can miss. */
export function createControllers(foundation: Foundation, parts: ControllerParts): Phase {
  const services = foundation.services.branch();
  return createPhase({
    services,
    begin: async () => {
      await createCluster(foundation, parts);
      const { upkeep } = parts.storage;
      for (const { name, run } of upkeep) services.start(name, 'upkeep', run);
      startControllers(foundation, parts, services);
      await startNamespaceObjects(foundation, parts, services);
    },
  });
}

/** Creates the objects that are missing. Objects that exist stay as they are. */
async function createCluster(foundation: Foundation, { storage, writing }: ControllerParts): Promise<void> {
  const { registry, now, logger, startup, persistently } = foundation;
  const { store, allocations } = storage;
  const { writer, pools } = writing;
  await persistently(() => bootstrapNamespaces(registry, writer));
  startup.finished('namespaces');
  await persistently(() => bootstrapRoles({ store, registry, writer, isOn: foundation.isFeatureOn }));
  startup.finished('roles');
  await persistently(() => bootstrapPriorities(registry, writer));
  startup.finished('priorities');
  const onTrouble = (message: string): void => logger.warn('allocations', { message });
  const repair = { store, registry, writer, allocations, pools, now, onTrouble };
  await persistently(() => repairAllocations(repair));
  startup.finished('allocations');
}

function startControllers(
  foundation: Foundation,
  { storage: { store }, writing: { writer, quotas } }: ControllerParts,
  services: Services,
): void {
  const { registry, now, logger } = foundation;
  const logAs =
    (name: string) =>
    (error: unknown): void =>
      logger.error(name, error);
  const namespaces = new NamespaceDeletion({
    ...{ store, registry, writer },
    identity: new ControllerIdentity('namespace-controller'),
    onError: logAs('namespace controller'),
  });
  services.start('namespace-deletion', 'upkeep', (signal) => namespaces.run(signal));
  const quotaUsage = new QuotaUsage({
    ...{ store, quotas, now },
    definitions: () => [...registry.storages()],
    onError: logAs('quotas'),
  });
  services.start('quotas', 'essential', (signal, works) => quotaUsage.run(signal, works));
  const definition = registry.findStorage({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles' });
  if (definition === undefined) return;
  const roles = new RoleAggregation({
    ...{ store, writer, definition },
    identity: new ControllerIdentity('clusterrole-aggregation-controller'),
    onError: logAs('role aggregation'),
  });
  services.start('role-aggregation', 'upkeep', (signal) => roles.run(signal));
}

async function startNamespaceObjects(
  { registry, logger }: Foundation,
  { storage: { store }, writing: { writer }, servingCa }: ControllerParts,
  services: Services,
): Promise<void> {
  const objects = createNamespaceObjects({ store, registry, writer, logger, servingCa });
  await objects.begin();
  services.start('namespace-objects', 'upkeep', (signal) => objects.run(signal));
}
