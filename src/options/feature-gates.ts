import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/**
 * The gates of the specification by stage and default. Gates in EFFECTIVE change something here, those in ELSEWHERE something of
 * others; any other gate may only be given its default.
 */
const GATES: readonly { readonly stage: 'Alpha' | 'Beta'; readonly on: boolean; readonly names: string }[] = [
  {
    stage: 'Alpha',
    on: false,
    names:
      'APIServingWithRoutine AllAlpha AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors ' +
      'AuthorizeWithSelectors CPUManagerPolicyAlphaOptions CSIVolumeHealth ' +
      'CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection ' +
      'CoordinatedLeaderElection CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod ' +
      'DRAControlPlaneController DisableAllocatorDualWrite DynamicResourceAllocation EventedPLEG ' +
      'HPAScaleToZero ImageVolume InPlacePodVerticalScaling InTreePluginStorageVendorUnregister ' +
      'InformerResourceVersion JobManagedBy AgentInUserNamespace AgentPodResourcesDynamicResources ' +
      'AgentPodResourcesGet LoggingAlphaOptions MaxUnavailableStatefulSet MemoryQoS ' +
      'MutatingAdmissionPolicy PodAndContainerStatsFromCRI QOSReserved RecoverVolumeExpansionFailure ' +
      'RelaxedEnvironmentVariableValidation ResourceHealthStatus RuntimeClassInImageCriApi SELinuxMount ' +
      'StorageVersionAPI StorageVersionMigrator SupplementalGroupsPolicy ' +
      'TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy ' +
      'UserNamespacesPodSecurityStandards VolumeCapacityPriority WatchList WinDSR',
  },
  {
    stage: 'Alpha',
    on: true,
    names: 'WindowsHostNetwork',
  },
  {
    stage: 'Beta',
    on: true,
    names:
      'APIResponseCompression APIServerIdentity APIServerTracing AnyVolumeDataSource ' +
      'CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CRDValidationRatcheting ' +
      'CSIMigrationStorageVendor ComponentSLIs ConsistentListFromCache ContainerCheckpoint ' +
      'ContextualLogging CronJobsScheduledAnnotation CustomResourceFieldSelectors ' +
      'DisableNodeProxyVersion GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ' +
      'HonorPVReclaimPolicy ImageMaximumGCAge JobBackoffLimitPerIndex JobPodReplacementPolicy ' +
      'JobSuccessPolicy AgentCgroupDriverFromCRI AgentSeparateDiskGC AgentTracing LoadBalancerIPMode ' +
      'LoggingBetaOptions MatchLabelKeysInPodAffinity MatchLabelKeysInPodTopologySpread MemoryManager ' +
      'NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap OpenAPIEnums PodDeletionCost ' +
      'PodIndexLabel PodLifecycleSleepAction PodReadyToStartContainersCondition PortForwardWebsockets ' +
      'RecursiveReadOnlyMounts ReloadAgentServerCertificateFile ResilientWatchCacheInitialization ' +
      'RetryGenerateName RotateAgentServerCertificate SELinuxMountReadWriteOncePod ' +
      'SeparateCacheWatchRPC SeparateTaintEvictionController ServiceAccountTokenJTI ' +
      'ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ' +
      'ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers ' +
      'SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StorageNamespaceIndex StorageVersionHash ' +
      'StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration TopologyAwareHints ' +
      'TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions ' +
      'TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation WinOverlay',
  },
  {
    stage: 'Beta',
    on: false,
    names:
      'AllBeta ConcurrentWatchObjectDecode LocalStorageCapacityIsolationFSQuotaMonitoring ' +
      'MultiCIDRServiceAllocator NodeLogQuery ProcMountType SchedulerQueueingHints ' +
      'StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks UserNamespacesSupport ' +
      'VolumeAttributesClass WatchCacheInitializationPostStartHook ' +
      'WatchFromStorageWithoutResourceVersion WatchListClient',
  },
];

const EFFECTIVE: ReadonlySet<string> = new Set([
  'APIResponseCompression',
  'APIServerTracing',
  'AllAlpha',
  'AllBeta',
  'AnonymousAuthConfigurableEndpoints',
  'CRDValidationRatcheting',
  'ClusterTrustBundleProjection',
  'ComponentSLIs',
  'CustomResourceFieldSelectors',
  'DRAControlPlaneController',
  'DynamicResourceAllocation',
  'ImageVolume',
  'JobBackoffLimitPerIndex',
  'JobPodReplacementPolicy',
  'JobSuccessPolicy',
  'LoadBalancerIPMode',
  'LoggingAlphaOptions',
  'MatchLabelKeysInPodAffinity',
  'MatchLabelKeysInPodTopologySpread',
  'NodeInclusionPolicyInPodTopologySpread',
  'OpenAPIEnums',
  'PodLifecycleSleepAction',
  'PortForwardWebsockets',
  'ProcMountType',
  'RecursiveReadOnlyMounts',
  'ResourceHealthStatus',
  'RetryGenerateName',
  'SELinuxMountReadWriteOncePod',
  'ServiceAccountTokenJTI',
  'ServiceAccountTokenNodeBinding',
  'ServiceAccountTokenNodeBindingValidation',
  'ServiceAccountTokenPodNodeInfo',
  'ServiceTrafficDistribution',
  'SidecarContainers',
  'StatefulSetAutoDeletePVC',
  'StorageVersionHash',
  'StructuredAuthenticationConfiguration',
  'StructuredAuthorizationConfiguration',
  'SupplementalGroupsPolicy',
  'TopologyAwareHints',
  'TranslateStreamCloseWebsocketRequests',
  'UnauthenticatedHTTP2DOSMitigation',
  'UnknownVersionInteroperabilityProxy',
  'UserNamespacesPodSecurityStandards',
  'UserNamespacesSupport',
  'VolumeAttributesClass',
  'WatchList',
]);

/** Gates that change nothing here. They are accepted, because one list of gates is often given to all components. */
export const ELSEWHERE: readonly { readonly what: string; readonly names: string }[] = [
  {
    what: 'concern node agents alone',
    names:
      'AgentCgroupDriverFromCRI AgentInUserNamespace AgentPodResourcesDynamicResources AgentPodResourcesGet ' +
      'AgentSeparateDiskGC AgentTracing CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions ' +
      'CPUManagerPolicyOptions CSIVolumeHealth ContainerCheckpoint CustomCPUCFSQuotaPeriod ' +
      'DisableNodeProxyVersion EventedPLEG GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ' +
      'ImageMaximumGCAge LocalStorageCapacityIsolationFSQuotaMonitoring MemoryManager MemoryQoS ' +
      'NodeLogQuery NodeSwap PodAndContainerStatsFromCRI PodReadyToStartContainersCondition QOSReserved ' +
      'ReloadAgentServerCertificateFile RotateAgentServerCertificate RuntimeClassInImageCriApi SELinuxMount ' +
      'SizeMemoryBackedVolumes TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions ' +
      'TopologyManagerPolicyOptions WindowsHostNetwork',
  },
  { what: 'concern the node proxy alone', names: 'NFTablesProxyMode WinDSR WinOverlay' },
  { what: 'concern the scheduler alone', names: 'SchedulerQueueingHints VolumeCapacityPriority' },
  {
    what: 'concern controller managers alone',
    names:
      'CSIMigrationStorageVendor CloudControllerManagerWebhook CronJobsScheduledAnnotation ' +
      'HonorPVReclaimPolicy InTreePluginStorageVendorUnregister InformerResourceVersion PodIndexLabel ' +
      'SeparateTaintEvictionController StorageVersionMigrator',
  },
  {
    what: 'concern the inside of servers in Go, of which clients see nothing',
    names:
      'APIServingWithRoutine ConcurrentWatchObjectDecode ConsistentListFromCache ContextualLogging ' +
      'ResilientWatchCacheInitialization SeparateCacheWatchRPC StorageNamespaceIndex ' +
      'WatchCacheInitializationPostStartHook WatchFromStorageWithoutResourceVersion WatchListClient',
  },
];

const ACCEPTED: ReadonlySet<string> = new Set(ELSEWHERE.flatMap(({ names }) => names.split(' ')));

/** What --help says of gates that do not do what their names say. */
export function describeOtherGates(): string {
  const elsewhere = ELSEWHERE.map(({ what, names }) => `${what} (accepted): ${names.replaceAll(' ', ', ')}`);
  const all = GATES.flatMap(({ names }) => names.split(' '));
  const rest = all.filter((name) => !EFFECTIVE.has(name) && !ACCEPTED.has(name)).sort();
  return `${elsewhere.join('; these ')}; these can only be left at their defaults: ${rest.join(', ')}`;
}

export interface FeatureGates {
  isEnabled(name: string): boolean;
}

/** @throws UsageError */
export function parseFeatureGates(pairs: readonly string[], flag: string): FeatureGates {
  const gates = new Map<string, { stage: string; on: boolean }>();
  for (const { stage, on, names } of GATES)
    for (const name of names.split(' ')) gates.set(name, { stage, on });
  const given = new Map<string, boolean>();
  for (const pair of pairs) {
    const match = /^(?:([\w-]+):)?(\w+)=(true|false)$/.exec(pair);
    if (match === null)
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} is not of the form Name=true or Name=false`);
    const [, component = 'cluster', name = '', value] = match;
    if (component !== 'cluster')
      throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
    const why = whyUnusable(name, value === 'true', gates);
    if (why !== undefined) throw new UsageError(`${flag}: ${why}`);
    given.set(name, value === 'true');
  }
  return {
    isEnabled: (name) =>
      given.get(name) ?? given.get(`All${gates.get(name)?.stage ?? ''}`) ?? gates.get(name)?.on ?? false,
  };
}

function whyUnusable(
  name: string,
  value: boolean,
  gates: ReadonlyMap<string, { on: boolean }>,
): string | undefined {
  const gate = gates.get(name);
  if (gate === undefined) {
    const nearest = nearestName(name, [...gates.keys()]);
    return `unknown gate ${name}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
  }
  if (EFFECTIVE.has(name) || ACCEPTED.has(name) || gate.on === value) return undefined;
  return `${name} has no effect in this version and can only be left at its default (${gate.on})`;
}
