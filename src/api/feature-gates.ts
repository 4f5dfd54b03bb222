/** Whether a feature gate is on. */
export type Gates = (gate: string) => boolean;

interface GateGroup {
  readonly stage: 'Alpha' | 'Beta';
  readonly on: boolean;
  readonly names: string;
}

/** The gates of the specification by stage and default. */
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
}

export const GATES: ReadonlyMap<string, GateInfo> = new Map(
  GROUPS.flatMap(({ stage, on, names }) => names.split(' ').map((name) => [name, { stage, on }])),
);

/** The default of every gate. */
export const defaultGates: Gates = (gate) => GATES.get(gate)?.on ?? false;
