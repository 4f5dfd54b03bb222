import { minorOf } from '../api/feature-gates.ts';
import { SERVICES } from '../api/known-resources.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { repairAllocations } from '../controllers/allocation-repair.ts';
import {
  bootstrapNamespaces,
  bootstrapPriorities,
  bootstrapRoles,
} from '../controllers/bootstrap-objects.ts';
import { CustomResourceAcceptance } from '../controllers/custom-resources/acceptance.ts';
import { CustomResourceEnd } from '../controllers/custom-resources/definition-end.ts';
import { CustomResourceViews } from '../controllers/custom-resources/views.ts';
import type { SigningFiles } from '../controllers/joining/signing.ts';
import { NamespaceDeletion } from '../controllers/namespace-deletion.ts';
import { QuotaUsage } from '../controllers/quota-usage.ts';
import { RoleAggregation } from '../controllers/role-aggregation.ts';
import { AddressRecords, DefaultRange } from '../controllers/service-ranges.ts';
import type { ServerOptions } from '../options/options.ts';
import { structuralViolations } from '../resources/apiextensions/schema/violations.ts';
import { Follower } from '../storage/follower.ts';
import type { AggregationPhase } from './aggregation.ts';
import { AllocatedValues, addAllocatedGauges } from './allocated-values.ts';
import { builtInNames, isBuiltIn } from './built-in-names.ts';
import type { Foundation } from './foundation.ts';
import { startIdentity } from './identity.ts';
import { createNamespaceObjects } from './namespace-objects.ts';
import { createPhase, type Phase } from './phase.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';
import { startUpkeep } from './upkeep.ts';
import { hasServiceRanges, type WritingPhase } from './writing.ts';

interface ControllerParts {
  readonly storage: StoragePhase;
  readonly writing: WritingPhase;
  readonly aggregation: AggregationPhase;
  /** Authority of the serving certificate, in PEM form. */
  readonly servingCa: string;
  readonly authorizer: Authorizer;
  readonly signing: SigningFiles | undefined;
  readonly options: Pick<ServerOptions, 'authentication' | 'services' | 'serving' | 'signing' | 'writing'>;
}

/** The fifth phase: creates the objects that every cluster has, and does the work of controllers that no cluster can miss. */
export function createControllers(foundation: Foundation, parts: ControllerParts): Phase {
  const services = foundation.services.branch();
  return createPhase({
    services,
    begin: async () => {
      await createCluster(foundation, parts);
      const { upkeep } = parts.storage;
      for (const { name, run } of upkeep) services.start(name, 'upkeep', run);
      startControllers(foundation, parts, services);
      startCustomResources(foundation, parts, services);
      if (parts.options.writing.fillsNamespaces) await startNamespaceObjects(foundation, parts, services);
      await startIdentity(foundation, parts, services);
      startAllocatedValues(foundation, parts, services);
      if (hasServiceRanges(foundation)) await startServiceRanges(foundation, parts, services);
      startUpkeep(foundation, parts, services);
    },
  });
}

/** Creates the objects that are missing. Objects that exist stay as they are. */
async function createCluster(foundation: Foundation, { storage, writing }: ControllerParts): Promise<void> {
  const { registry, now, logger, startup, persistently } = foundation;
  const { allocations } = storage;
  const { client, pools } = writing;
  await persistently(() => bootstrapNamespaces(client));
  startup.finished('namespaces');
  await persistently(() => bootstrapRoles(client, foundation.isFeatureOn));
  startup.finished('roles');
  await persistently(() => bootstrapPriorities(client));
  startup.finished('priorities');
  const onTrouble = (message: string): void => logger.warn('allocations', { message });
  const repair = { client, registry, allocations, pools: pools(), now, onTrouble };
  await persistently(() => repairAllocations(repair));
  startup.finished('allocations');
}

function startControllers(
  foundation: Foundation,
  { writing: { client, quotas }, aggregation }: ControllerParts,
  services: Services,
): void {
  const { registry, now, logger } = foundation;
  const logAs =
    (name: string) =>
    (error: unknown): void =>
      logger.error(name, error);
  const namespaces = new NamespaceDeletion({
    ...{ client, registry, now },
    elsewhere: aggregation.remoteContents,
    podsFirst: foundation.isFeatureOn('OrderedNamespaceDeletion'),
    onError: logAs('namespace controller'),
  });
  services.start('namespace-deletion', 'upkeep', (signal) => namespaces.run(signal));
  const quotaUsage = new QuotaUsage({
    ...{ client, quotas, now },
    definitions: () => [...registry.storages()],
    onResources: (changed) => registry.onChange(changed),
    onError: logAs('quotas'),
  });
  services.start('quotas', 'essential', (signal, works) => quotaUsage.run(signal, works));
  const roles = new RoleAggregation({ client, onError: logAs('role aggregation') });
  services.start('role-aggregation', 'upkeep', (signal) => roles.run(signal));
}

function startCustomResources(
  { now, logger }: Foundation,
  { writing: { client }, storage: { views } }: ControllerParts,
  services: Services,
): void {
  const onError = (error: unknown): void => logger.error('custom resource definitions', error);
  const common = { client, now, onError };
  const acceptance = new CustomResourceAcceptance({
    ...common,
    reserved: builtInNames,
    violations: structuralViolations,
  });
  services.start('custom-resource-acceptance', 'upkeep', (signal) => acceptance.run(signal));
  const end = new CustomResourceEnd({ ...common, isBuiltIn });
  services.start('custom-resource-end', 'upkeep', (signal) => end.run(signal));
  if (views === undefined) return;
  const kept = new CustomResourceViews({
    ...{ client, views },
    onError: (error) => logger.error('views of custom resources', error),
  });
  services.start('custom-resource-views', 'upkeep', (signal) => kept.run(signal));
}

async function startNamespaceObjects(
  { logger }: Foundation,
  { writing: { client }, servingCa }: ControllerParts,
  services: Services,
): Promise<void> {
  const objects = createNamespaceObjects({ client, logger, servingCa });
  await objects.begin();
  services.start('namespace-objects', 'upkeep', (signal) => objects.run(signal));
}

function startAllocatedValues(
  { registry, metrics }: Foundation,
  { writing: { pools }, storage: { store } }: ControllerParts,
  services: Services,
): void {
  const assigned = registry.findStorage(SERVICES)?.strategy.assigned;
  if (assigned === undefined) return;
  const allocated = new AllocatedValues(pools, assigned.valuesOf);
  addAllocatedGauges(metrics, pools, allocated);
  const follower = new Follower({ store, sources: [{ resource: SERVICES, index: allocated }] });
  services.start('allocated-values', 'upkeep', (signal, works) => follower.run(signal, works));
}

async function startServiceRanges(
  { logger, persistently, isFeatureOn }: Foundation,
  { writing: { client }, options }: ControllerParts,
  services: Services,
): Promise<void> {
  const range = new DefaultRange({
    ...{ client, own: options.services.clusterIpRanges, minor: minorOf(isFeatureOn) },
    onError: (error) => logger.error('the default range of services', error),
  });
  await persistently(() => range.ensure());
  services.start('default-range', 'upkeep', (signal) => range.run(signal));
  const records = new AddressRecords({
    client,
    onError: (error) => logger.error('addresses of services', error),
  });
  services.start('address-records', 'upkeep', (signal) => records.run(signal));
}
