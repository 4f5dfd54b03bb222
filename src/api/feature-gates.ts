import { DEFAULT_MINOR } from '../version.ts';
import { MINORS, type Minor } from './emulation.ts';
import { GATE_CHANGES, type GateGroup } from './gate-changes.ts';

/** Whether a feature gate is on. */
export interface Gates {
  (gate: string): boolean;
  /** The version of Kubernetes whose gates they are; absent: the one that is emulated by default. */
  readonly minor?: Minor;
  /** --min-compatibility-version */
  readonly compatible?: Minor | undefined;
}

/** The version of Kubernetes whose rules hold. Without gates: that which is emulated by default. */
export const minorOf = (isOn: Gates | undefined): Minor => isOn?.minor ?? DEFAULT_MINOR;

/**
 * The newest version whose functions new expressions may use: the one before the emulated version, so that a cluster can go back
 * by one, unless --min-compatibility-version says otherwise (Kubernetes: cel/environment, DefaultCompatibilityVersion). 1.31 knows
 * its own.
 */
export const newestForExpressions = ({ minor = DEFAULT_MINOR, compatible }: Gates): Minor =>
  compatible ?? MINORS.findLast((one) => one < minor) ?? MINORS[0];

/** The gates of the specification, which is 1.31, by stage and default. */
const GROUPS: readonly GateGroup[] = [
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
      // From a later version than the others.
      'AuthorizePodWebsocketUpgradeCreatePermission ' +
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

/** The properties of a gate. */
interface GateInfo {
  readonly stage: GateGroup['stage'];
  /** The default. */
  readonly on: boolean;
  readonly isLocked: boolean;
}

export type GateTable = ReadonlyMap<string, GateInfo>;

/** The gates of a version of Kubernetes. */
export function gatesOf(minor: Minor): GateTable {
  const changes = MINORS.filter((one) => one <= minor).flatMap((one) => GATE_CHANGES[one]);
  return new Map(
    [...GROUPS, ...changes].flatMap(({ names, stage, on, isLocked = false }) =>
      names.split(' ').map((name) => [name, { stage, on, isLocked }]),
    ),
  );
}

export const GATES: GateTable = gatesOf(DEFAULT_MINOR);

/** The default of every gate. */
export const defaultGates: Gates = (gate) => GATES.get(gate)?.on ?? false;
