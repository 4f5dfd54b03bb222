import { isAlive, type Minor } from '../api/emulation.ts';
import { type GroupVersion, toResourceKey } from '../api/names.ts';
import type { ResourceDefinition, ServedVersion } from '../registry/resource-definition.ts';
import { mutatingadmissionpolicies } from './admissionregistration/mutating-admission-policy.ts';
import { mutatingadmissionpolicybindings } from './admissionregistration/mutating-admission-policy-binding.ts';
import { validatingadmissionpolicies } from './admissionregistration/validating-admission-policy.ts';
import { validatingadmissionpolicybindings } from './admissionregistration/validating-admission-policy-binding.ts';
import {
  mutatingwebhookconfigurations,
  validatingwebhookconfigurations,
} from './admissionregistration/webhook-configuration.ts';
import { customresourcedefinitions } from './apiextensions/custom-resource-definition.ts';
import { apiservices } from './apiregistration/api-service.ts';
import { storageversions } from './apiserverinternal/storage-version.ts';
import { controllerrevisions } from './apps/controller-revision.ts';
import { daemonsets } from './apps/daemon-set.ts';
import { deployments } from './apps/deployment.ts';
import { replicasets } from './apps/replica-set.ts';
import { statefulsets } from './apps/stateful-set.ts';
import { horizontalpodautoscalers } from './autoscaling/horizontal-pod-autoscaler/definition.ts';
import { cronjobs } from './batch/cron-job.ts';
import { jobs } from './batch/job/definition.ts';
import { certificatesigningrequests } from './certificates/certificate-signing-request.ts';
import { clustertrustbundles } from './certificates/cluster-trust-bundle.ts';
import { podcertificaterequests } from './certificates/pod-certificate-request.ts';
import { leases } from './coordination/lease.ts';
import { alphaLeaseCandidates, leasecandidates } from './coordination/lease-candidate.ts';
import { componentstatuses } from './core/component-status.ts';
import { configmaps } from './core/config-map.ts';
import { endpoints } from './core/endpoints.ts';
import { events } from './core/event.ts';
import { limitranges } from './core/limit-range.ts';
import { namespaces } from './core/namespace.ts';
import { nodes } from './core/node.ts';
import { persistentvolumes } from './core/persistent-volume/definition.ts';
import { persistentvolumeclaims } from './core/persistent-volume-claim/definition.ts';
import { podtemplates } from './core/pod-template.ts';
import { replicationcontrollers } from './core/replication-controller.ts';
import { resourcequotas } from './core/resource-quota.ts';
import { secrets } from './core/secret.ts';
import { services } from './core/service/definition.ts';
import { serviceaccounts } from './core/service-account.ts';
import { deprecationOf } from './deprecations.ts';
import { deviceclasses } from './devices/device-class.ts';
import { devicetaintrules } from './devices/device-taint-rule.ts';
import { resourceclaims } from './devices/resource-claim.ts';
import { resourceclaimtemplates } from './devices/resource-claim-template.ts';
import { resourcepoolstatusrequests } from './devices/resource-pool-status-request.ts';
import { resourceslices } from './devices/resource-slice.ts';
import { deviceclasses as alphaDeviceClasses } from './devices/until-1.31/device-class.ts';
import { podschedulingcontexts } from './devices/until-1.31/pod-scheduling-context.ts';
import { resourceclaims as alphaResourceClaims } from './devices/until-1.31/resource-claim.ts';
import { resourceclaimtemplates as alphaResourceClaimTemplates } from './devices/until-1.31/resource-claim-template.ts';
import { resourceslices as alphaResourceSlices } from './devices/until-1.31/resource-slice.ts';
import { endpointslices } from './discovery/endpoint-slice.ts';
import { eventsV1 } from './events/event.ts';
import { flowschemas } from './flowcontrol/flow-schema.ts';
import { prioritylevelconfigurations } from './flowcontrol/priority-level-configuration.ts';
import { blames } from './history/blame.ts';
import { restores } from './history/restore.ts';
import { revisions } from './history/revision.ts';
import { timelines } from './history/timeline.ts';
import { ingresses } from './networking/ingress.ts';
import { ingressclasses } from './networking/ingress-class.ts';
import { ipaddresses } from './networking/ip-address.ts';
import { networkpolicies } from './networking/network-policy.ts';
import { servicecidrs } from './networking/service-cidr.ts';
import { runtimeclasses } from './node/runtime-class.ts';
import { bindings } from './pod/binding.ts';
import { pods } from './pod/definition.ts';
import { poddisruptionbudgets } from './policy/pod-disruption-budget.ts';
import { clusterroles, roles } from './rbac/role.ts';
import { clusterrolebindings, rolebindings } from './rbac/role-binding.ts';
import {
  localsubjectaccessreviews,
  selfsubjectaccessreviews,
  selfsubjectreviews,
  selfsubjectrulesreviews,
  subjectaccessreviews,
  tokenreviews,
} from './reviews.ts';
import { podgroups } from './scheduling/pod-group.ts';
import { priorityclasses } from './scheduling/priority-class.ts';
import { workloads } from './scheduling/workload.ts';
import { workloads as firstWorkloads } from './scheduling/workload-1-35.ts';
import { csidrivers } from './storage/csi-driver.ts';
import { csinodes } from './storage/csi-node.ts';
import { csistoragecapacities } from './storage/csi-storage-capacity.ts';
import { storageclasses } from './storage/storage-class.ts';
import { volumeattachments } from './storage/volume-attachment.ts';
import { volumeattributesclasses } from './storage/volume-attributes-class.ts';
import { storageversionmigrations } from './storagemigration/storage-version-migration.ts';

/** Every built-in resource of any version of Kubernetes, in the order in which discovery lists the groups. */
export const EVERY_RESOURCE: readonly ResourceDefinition[] = [
  bindings,
  componentstatuses,
  configmaps,
  endpoints,
  events,
  limitranges,
  namespaces,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  podtemplates,
  replicationcontrollers,
  resourcequotas,
  secrets,
  serviceaccounts,
  services,
  apiservices,
  controllerrevisions,
  daemonsets,
  deployments,
  replicasets,
  statefulsets,
  eventsV1,
  selfsubjectreviews,
  tokenreviews,
  localsubjectaccessreviews,
  selfsubjectaccessreviews,
  selfsubjectrulesreviews,
  subjectaccessreviews,
  horizontalpodautoscalers,
  cronjobs,
  jobs,
  certificatesigningrequests,
  clustertrustbundles,
  podcertificaterequests,
  ingressclasses,
  ingresses,
  networkpolicies,
  ipaddresses,
  servicecidrs,
  poddisruptionbudgets,
  clusterrolebindings,
  clusterroles,
  rolebindings,
  roles,
  csidrivers,
  csinodes,
  csistoragecapacities,
  storageclasses,
  volumeattachments,
  volumeattributesclasses,
  mutatingadmissionpolicies,
  mutatingadmissionpolicybindings,
  mutatingwebhookconfigurations,
  validatingadmissionpolicies,
  validatingadmissionpolicybindings,
  validatingwebhookconfigurations,
  customresourcedefinitions,
  podgroups,
  priorityclasses,
  firstWorkloads,
  workloads,
  leases,
  alphaLeaseCandidates,
  leasecandidates,
  runtimeclasses,
  endpointslices,
  flowschemas,
  prioritylevelconfigurations,
  storageversions,
  alphaDeviceClasses,
  deviceclasses,
  devicetaintrules,
  podschedulingcontexts,
  alphaResourceClaims,
  resourceclaims,
  alphaResourceClaimTemplates,
  resourceclaimtemplates,
  resourcepoolstatusrequests,
  alphaResourceSlices,
  resourceslices,
  storageversionmigrations,
  revisions,
  timelines,
  blames,
  restores,
];

/** Which versions of resources are served although they came after the emulated version. */
interface ForwardCompatibility {
  /** Whether the operator has named it. */
  isNamed(version: GroupVersion): boolean;
  /** Undefined: a version is not served because a worse one of its resource is. */
  readonly followsServed: ((version: GroupVersion, byDefault: boolean) => boolean) | undefined;
}

/** The built-in resources as a version of Kubernetes has them. */
export const builtInResources = (
  minor: Minor,
  forward?: ForwardCompatibility,
): readonly ResourceDefinition[] =>
  EVERY_RESOURCE.map((definition) => asOf(definition, minor, forward)).filter(
    ({ versions }) => versions.length > 0,
  );

/**
 * Resources that are not among these, but among those of another version of Kubernetes, each storage once. A server that has
 * emulated that version may have stored objects of them, so every server knows them: they end with their namespace and their
 * owner.
 */
export function resourcesBeside(own: readonly ResourceDefinition[]): readonly ResourceDefinition[] {
  const known = new Set(own.map(({ storage }) => toResourceKey(storage)));
  return EVERY_RESOURCE.filter((definition) => {
    const isStored = definition.verbs.includes('list') && definition.verbs.includes('delete');
    if (!isStored || known.has(toResourceKey(definition.storage))) return false;
    known.add(toResourceKey(definition.storage));
    return true;
  });
}

const isAlpha = (version: string): boolean => version.includes('alpha');

/** Versions stand in their order, the best one first: those behind a version are worse. */
function isForward(
  { group, versions }: ResourceDefinition,
  version: ServedVersion,
  { isNamed, followsServed }: ForwardCompatibility,
  minor: Minor,
): boolean {
  if (version.since === undefined || version.since <= minor) return false;
  if (isNamed({ group, version: version.version })) return true;
  if (followsServed === undefined || isAlpha(version.version)) return false;
  return versions
    .slice(versions.indexOf(version) + 1)
    .some(
      (worse) =>
        isAlive(worse, minor) &&
        !isAlpha(worse.version) &&
        followsServed({ group, version: worse.version }, worse.enabledByDefault),
    );
}

function asOf(
  definition: ResourceDefinition,
  minor: Minor,
  forward: ForwardCompatibility | undefined,
): ResourceDefinition {
  const versions = definition.versions.flatMap((version) => {
    if (isAlive(version, minor)) return [withDeprecation(definition, version, minor)];
    const isServed = forward !== undefined && isForward(definition, version, forward, minor);
    return isServed ? [{ ...version, enabledByDefault: true }] : [];
  });
  const subresources = definition.subresources.filter((subresource) => isAlive(subresource, minor));
  const older = definition.olderTables?.find((table) => isAlive(table, minor));
  const isWhole =
    older === undefined &&
    versions.length === definition.versions.length &&
    versions.every((version, at) => version === definition.versions[at]) &&
    subresources.length === definition.subresources.length;
  if (isWhole) return definition;
  const { columns, cells } = older ?? definition;
  return { ...definition, versions, subresources, columns, cells };
}

function withDeprecation(
  definition: ResourceDefinition,
  version: ServedVersion,
  minor: Minor,
): ServedVersion {
  const deprecation = deprecationOf(definition, version, minor);
  return deprecation === undefined ? version : { ...version, deprecation };
}
