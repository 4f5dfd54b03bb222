import type { Minor } from './emulation.ts';

/** Gates of the same stage and default. */
export interface GateGroup {
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated';
  readonly on: boolean;
  /** The default cannot be changed. */
  readonly isLocked?: boolean;
  readonly names: string;
}

/**
 * The gates that each version of Kubernetes added or changed, by their stage and default since then. A gate that a later version
 * removed stays here as it was last: what it turned on stays on.
 */
export const GATE_CHANGES: Readonly<Record<Minor, readonly GateGroup[]>> = {
  31: [],
  32: [
    {
      stage: 'Alpha',
      on: false,
      names:
        'AgentCrashLoopBackOffMax AgentFineGrainedAuthz AllowUnsafeMalformedObjectDeletion ' +
        'CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR ComponentFlagz ComponentStatusz ' +
        'DRAAdminAccess DRAResourceClaimDeviceStatus ExternalServiceAccountTokenSigner ' +
        'InPlacePodVerticalScalingExclusiveCPUs PodLevelResources PodLifecycleSleepActionAllowZero ' +
        'PodLogsQuerySplitStreams RelaxedDNSSearchValidation RemoteRequestHeaderUID ' +
        'SELinuxChangePolicy SchedulerAsyncPreemption WindowsCPUAndMemoryAffinity ' +
        'WindowsGracefulNodeShutdown WindowsHostNetwork',
    },
    {
      stage: 'Beta',
      on: false,
      names: 'DynamicResourceAllocation OrderedNamespaceDeletion ServiceAccountNodeAudienceRestriction',
    },
    {
      stage: 'Beta',
      on: true,
      names:
        'AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors ' +
        'BtreeWatchCache JobManagedBy NodeLogQuery RecoverVolumeExpansionFailure ' +
        'RelaxedEnvironmentVariableValidation SchedulerQueueingHints ' +
        'StatefulSetSemanticRevisionComparison SystemdWatchdog WatchList',
    },
    {
      stage: 'Deprecated',
      on: false,
      names:
        'AgentRegistrationGetOnExistsOnly AllowDNSOnlyNodeCSR ' +
        'AllowInsecureAgentCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds ' +
        'DisableNodeProxyVersion KMSv1',
    },
    {
      stage: 'GA',
      on: false,
      names:
        'AgentPodResourcesListUseActivePods AggregatedDiscoveryRemoveBetaType ' +
        'ServiceCIDRStatusFieldWiping',
    },
    {
      stage: 'GA',
      on: true,
      names:
        'AllowServiceExternalIPs ChangeContainerStatusOnAgentRestart ExecProbeTimeout ' +
        'GitRepoVolumeDriver',
    },
    {
      stage: 'GA',
      on: true,
      isLocked: true,
      names:
        'ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors LoadBalancerIPMode ' +
        'LogarithmicScaleDown MemoryManager PodIndexLabel PodSchedulingReadiness RetryGenerateName ' +
        'ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation ' +
        'ServiceAccountTokenPodNodeInfo SizeMemoryBackedVolumes StatefulSetAutoDeletePVC ' +
        'StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks ' +
        'StructuredAuthorizationConfiguration TopologyManagerPolicyOptions',
    },
  ],
  33: [
    {
      stage: 'Alpha',
      on: false,
      names:
        'AgentEnsureSecretPulledImages AgentPSI AgentServiceAccountTokenForCredentialProviders ' +
        'ContainerStopSignals DRADeviceTaints DRAPartitionableDevices DRAPrioritizedList ' +
        'DeploymentReplicaSetTerminatingReplicas HPAConfigurableTolerance ListFromCacheSnapshot ' +
        'MutableCSINodeAllocatableCount PodObservedGenerationTracking PodTopologyLabelsAdmission ' +
        'PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay StorageCapacityScoring ' +
        'StrictIPCIDRValidation',
    },
    {
      stage: 'Beta',
      on: false,
      names:
        'ClusterTrustBundle ClusterTrustBundleProjection CoordinatedLeaderElection ' +
        'DeclarativeValidationTakeover DisableAllocatorDualWrite ImageVolume SELinuxMount WatchList',
    },
    {
      stage: 'Beta',
      on: true,
      names:
        'AgentFineGrainedAuthz AllowParsingUserUIDFromCertAuth DRAResourceClaimDeviceStatus ' +
        'DeclarativeValidation DisableCPUQuotaWithExclusiveCPUs InOrderInformers ' +
        'InPlacePodVerticalScaling OrderedNamespaceDeletion PodLifecycleSleepActionAllowZero ' +
        'ProcMountType RelaxedDNSSearchValidation RemoteRequestHeaderUID SELinuxChangePolicy ' +
        'SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction ' +
        'StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf ' +
        'SupplementalGroupsPolicy UserNamespacesSupport WinDSR',
    },
    { stage: 'Deprecated', on: false, names: 'GitRepoVolumeDriver SeparateCacheWatchRPC WindowsHostNetwork' },
    {
      stage: 'Deprecated',
      on: true,
      names: 'AggregatedDiscoveryRemoveBetaType DisableNodeProxyVersion StorageNamespaceIndex',
    },
    { stage: 'GA', on: true, names: 'MultiCIDRServiceAllocator' },
    {
      stage: 'GA',
      on: true,
      isLocked: true,
      names:
        'AnyVolumeDataSource BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting ' +
        'HonorPVReclaimPolicy JobBackoffLimitPerIndex JobSuccessPolicy MatchLabelKeysInPodAffinity ' +
        'NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread RecursiveReadOnlyMounts ' +
        'ServiceAccountTokenNodeBinding ServiceTrafficDistribution SidecarContainers ' +
        'TopologyAwareHints',
    },
  ],
  34: [
    {
      stage: 'Alpha',
      on: false,
      names:
        'ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity ' +
        'DRADeviceBindingConditions DRAExtendedResource EnvFiles HostnameOverride ' +
        'InPlacePodVerticalScalingExclusiveMemory NominatedNodeNameForExpectation ' +
        'PodCertificateRequest RelaxedServiceNameValidation',
    },
    {
      stage: 'Beta',
      on: false,
      names: 'MutableCSINodeAllocatableCount MutatingAdmissionPolicy SchedulerAsyncAPICalls',
    },
    {
      stage: 'Beta',
      on: true,
      names:
        'AgentPSI AgentPodResourcesDynamicResources AgentPodResourcesGet ' +
        'AgentServiceAccountTokenForCredentialProviders DRAAdminAccess DRAPrioritizedList ' +
        'DRASchedulerFilterTimeout DetectCacheInconsistency ExternalServiceAccountTokenSigner ' +
        'ListFromCacheSnapshot MatchLabelKeysInPodTopologySpreadSelectorMerge PodLevelResources ' +
        'PodObservedGenerationTracking PreferSameTrafficDistribution PreventStaticPodAPIReferences ' +
        'SizeBasedListCostEstimate StructuredAuthenticationConfigurationEgressSelector ' +
        'TokenRequestServiceAccountUIDValidation WatchList WindowsGracefulNodeShutdown',
    },
    { stage: 'Deprecated', on: true, names: 'AgentPodResourcesListUseActivePods' },
    {
      stage: 'GA',
      on: true,
      names: 'DisableAllocatorDualWrite DynamicResourceAllocation VolumeAttributesClass',
    },
    {
      stage: 'GA',
      on: true,
      isLocked: true,
      names:
        'APIServerTracing AgentCgroupDriverFromCRI AgentTracing AnonymousAuthConfigurableEndpoints ' +
        'AuthorizeNodeWithSelectors AuthorizeWithSelectors ConsistentListFromCache ' +
        'JobPodReplacementPolicy MultiCIDRServiceAllocator NodeSwap OrderedNamespaceDeletion ' +
        'PodLifecycleSleepAction PodLifecycleSleepActionAllowZero RecoverVolumeExpansionFailure ' +
        'RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ' +
        'ResilientWatchCacheInitialization SchedulerQueueingHints SeparateTaintEvictionController ' +
        'StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf ' +
        'StructuredAuthenticationConfiguration WinDSR WinOverlay',
    },
  ],
  35: [
    {
      stage: 'Alpha',
      on: false,
      names:
        'CloudControllerManagerWatchBasedRoutesReconciliation ConstrainedImpersonation ' +
        'DRADeviceTaintRules GangScheduling GenericWorkload ImageVolumeWithDigest ' +
        'InPlacePodLevelResourcesVerticalScaling MutablePVNodeAffinity ' +
        'MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs ' +
        'NodeDeclaredFeatures RestartAllContainersOnContainerExits TaintTolerationComparisonOperators ' +
        'UserNamespacesHostNetworkSupport VolumeLimitScaling',
    },
    {
      stage: 'Beta',
      on: false,
      names:
        'CRDObservedGenerationTracking MaxUnavailableStatefulSet PodCertificateRequest ' +
        'StorageVersionMigrator',
    },
    {
      stage: 'Beta',
      on: true,
      names:
        'AgentCrashLoopBackOffMax AgentEnsureSecretPulledImages CSIServiceAccountTokenSecrets ' +
        'ClearingNominatedNodeNameAfterBinding ContainerRestartRules ' +
        'DeploymentReplicaSetTerminatingReplicas EnvFiles HPAConfigurableTolerance HostnameOverride ' +
        'ImageVolume InOrderInformersBatchProcess MutableCSINodeAllocatableCount ' +
        'NominatedNodeNameForExpectation OpportunisticBatching PodTopologyLabelsAdmission ' +
        'StructuredAuthenticationConfigurationJWKSMetrics WatchListClient',
    },
    { stage: 'GA', on: true, names: 'InformerResourceVersion' },
    { stage: 'Deprecated', on: false, names: 'ChangeContainerStatusOnAgentRestart' },
    { stage: 'Deprecated', on: false, isLocked: true, names: 'AllowOverwriteTerminationGracePeriodSeconds' },
    { stage: 'Deprecated', on: true, isLocked: true, names: 'AggregatedDiscoveryRemoveBetaType' },
    {
      stage: 'GA',
      on: true,
      isLocked: true,
      names:
        'DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ImageMaximumGCAge ' +
        'InPlacePodVerticalScaling JobManagedBy PodObservedGenerationTracking ' +
        'PreferSameTrafficDistribution SupplementalGroupsPolicy SystemdWatchdog',
    },
  ],
  36: [
    {
      stage: 'Alpha',
      on: false,
      names:
        'CRIListStreaming ControllerManagerReleaseLeaderElectionLockOnExit DRAListTypeAttributes ' +
        'DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims ' +
        'ManifestBasedAdmissionControlConfig NativeHistograms PersistentVolumeClaimUnusedSinceTime ' +
        'PodLevelResourceManagers PodsAPI ShardedListAndWatch TopologyAwareWorkloadScheduling ' +
        'WorkloadAwarePreemption WorkloadWithJob',
    },
    { stage: 'Beta', on: false, names: 'DRADeviceTaintRules' },
    {
      stage: 'Beta',
      on: true,
      names:
        'AtomicFIFO CRDObservedGenerationTracking ClientsAllowCARotation ClientsAllowTLSCacheGC ' +
        'ComponentFlagz ComponentStatusz ConstrainedImpersonation DRAConsumableCapacity ' +
        'DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices ' +
        'DRAResourceClaimGranularStatusAuthorization DeclarativeValidationBeta ' +
        'ExtendWebSocketsToAgent InPlacePodLevelResourcesVerticalScaling ' +
        'InPlacePodVerticalScalingInitContainers MutablePodResourcesForSuspendedJobs ' +
        'MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures PLEGOnDemandRelist ' +
        'RelaxedServiceNameValidation ReloadAgentClientCAFile ResourceHealthStatus ' +
        'ResourceHealthStatusMessage RestartAllContainersOnContainerExits ' +
        'StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob ' +
        'StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet ' +
        'StrictIPCIDRValidation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO ' +
        'WatchCacheInitializationPostStartHook',
    },
    { stage: 'Deprecated', on: false, names: 'DeclarativeValidationTakeover' },
    { stage: 'Deprecated', on: false, isLocked: true, names: 'GitRepoVolumeDriver SeparateCacheWatchRPC' },
    { stage: 'Deprecated', on: true, names: 'DisableCPUQuotaWithExclusiveCPUs ServiceCIDRStatusFieldWiping' },
    { stage: 'Deprecated', on: true, isLocked: true, names: 'DisableNodeProxyVersion' },
    { stage: 'GA', on: true, names: 'CustomCPUCFSQuotaPeriod DRAPrioritizedList MutatingAdmissionPolicy' },
    {
      stage: 'GA',
      on: true,
      isLocked: true,
      names:
        'AgentFineGrainedAuthz AgentPSI AgentPodResourcesDynamicResources AgentPodResourcesGet ' +
        'CSIServiceAccountTokenSecrets DRAAdminAccess DeclarativeValidation ' +
        'ExternalServiceAccountTokenSigner ImageVolume InOrderInformers ' +
        'MutableCSINodeAllocatableCount NodeLogQuery ProcMountType SELinuxChangePolicy ' +
        'SELinuxMountReadWriteOncePod UserNamespacesSupport VolumeAttributesClass',
    },
  ],
};
