import { GATES, type Gates } from '../api/feature-gates.ts';
import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/** Gates that change something here. Every other one is in ELSEWHERE. */
export const EFFECTIVE: ReadonlySet<string> = new Set([
  'APIResponseCompression',
  'APIServerIdentity',
  'APIServerTracing',
  'AllAlpha',
  'AllBeta',
  'AnonymousAuthConfigurableEndpoints',
  'AnyVolumeDataSource',
  'AuthorizeNodeWithSelectors',
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'AuthorizeWithSelectors',
  'CRDValidationRatcheting',
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'ComponentSLIs',
  'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource',
  'CustomResourceFieldSelectors',
  'DRAControlPlaneController',
  'DynamicResourceAllocation',
  'HPAScaleToZero',
  'ImageVolume',
  'InPlacePodVerticalScaling',
  'JobBackoffLimitPerIndex',
  'JobManagedBy',
  'JobPodReplacementPolicy',
  'JobSuccessPolicy',
  'LoadBalancerIPMode',
  'LoggingAlphaOptions',
  'MatchLabelKeysInPodAffinity',
  'MatchLabelKeysInPodTopologySpread',
  'MaxUnavailableStatefulSet',
  'MultiCIDRServiceAllocator',
  'NodeInclusionPolicyInPodTopologySpread',
  'OpenAPIEnums',
  'PodDeletionCost',
  'PodLifecycleSleepAction',
  'PortForwardWebsockets',
  'ProcMountType',
  'RecoverVolumeExpansionFailure',
  'RecursiveReadOnlyMounts',
  'RelaxedEnvironmentVariableValidation',
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
  'StorageVersionAPI',
  'StorageVersionHash',
  'StorageVersionMigrator',
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
  'WatchCacheInitializationPostStartHook',
  'WatchList',
]);

/** Gates without effect here. They are accepted, because one list of gates is often given to all components. */
export const ELSEWHERE: readonly { readonly what: string; readonly names: string }[] = [
  {
    what: 'concerns node agents alone',
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
  { what: 'concerns the node proxy alone', names: 'NFTablesProxyMode WinDSR WinOverlay' },
  { what: 'concerns the scheduler alone', names: 'SchedulerQueueingHints VolumeCapacityPriority' },
  {
    what: 'concerns controller managers alone',
    names:
      'CSIMigrationStorageVendor CloudControllerManagerWebhook CronJobsScheduledAnnotation ' +
      'HonorPVReclaimPolicy InTreePluginStorageVendorUnregister InformerResourceVersion PodIndexLabel ' +
      'SeparateTaintEvictionController',
  },
  {
    what: 'concerns what this server does not have: a second log format, and another allocator of addresses',
    names: 'DisableAllocatorDualWrite LoggingBetaOptions',
  },
  {
    what: 'names an API that came with 1.32, and does nothing in the version that is emulated',
    names: 'MutatingAdmissionPolicy',
  },
  {
    what: 'expressions pay for what their libraries do in any case, because they run while others wait',
    names: 'StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks',
  },
  {
    what: 'concerns the inside of servers in Go, of which clients see nothing',
    names:
      'APIServingWithRoutine ConcurrentWatchObjectDecode ConsistentListFromCache ContextualLogging ' +
      'ResilientWatchCacheInitialization SeparateCacheWatchRPC StorageNamespaceIndex ' +
      'WatchFromStorageWithoutResourceVersion WatchListClient',
  },
];

/** The line of each gate in --help: `APIServerTracing (beta, default true)`. */
export const describeGates = (): string[] =>
  [...GATES]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { stage, on }]) => {
      const elsewhere = ELSEWHERE.find(({ names }) => names.split(' ').includes(name));
      const note = elsewhere === undefined ? '' : `; ${elsewhere.what}`;
      return `${name} (${stage.toLowerCase()}, default ${on}${note})`;
    });

export interface FeatureGates {
  readonly isEnabled: Gates;
}

/** The specification's name for the component, and the ecosystem's. */
const COMPONENTS: ReadonlySet<string> = new Set(['cluster', 'kube']);

/** Names that the ecosystem has for gates which the specification calls otherwise. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...[...GATES.keys()]
    .filter((name) => name.includes('Agent'))
    .map((name) => [name.replace('Agent', 'Kubelet'), name] as const),
  ['CSIMigrationPortworx', 'CSIMigrationStorageVendor'],
  ['DisableNodeKubeProxyVersion', 'DisableNodeProxyVersion'],
  ['InTreePluginPortworxUnregister', 'InTreePluginStorageVendorUnregister'],
]);

/** @throws UsageError */
export function parseFeatureGates(pairs: readonly string[], flag: string): FeatureGates {
  const given = new Map<string, boolean>();
  for (const pair of pairs) {
    const match = /^(?:([\w-]+):)?(\w+)=(true|false)$/.exec(pair);
    if (match === null)
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} is not of the form Name=true or Name=false`);
    const [, component = 'cluster', said = '', value] = match;
    const name = OTHER_NAMES.get(said) ?? said;
    if (!COMPONENTS.has(component))
      throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
    if (!GATES.has(name)) throw new UsageError(`${flag}: ${unknownGate(name)}`);
    given.set(name, value === 'true');
  }
  return {
    isEnabled: (name) => {
      const gate = GATES.get(name);
      return given.get(name) ?? given.get(`All${gate?.stage ?? ''}`) ?? gate?.on ?? false;
    },
  };
}

function unknownGate(name: string): string {
  const nearest = nearestName(name, [...GATES.keys()]);
  return `unknown gate ${name}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
