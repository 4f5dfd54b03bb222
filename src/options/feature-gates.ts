import { MINORS, type Minor, NEWEST_MINOR, toVersion } from '../api/emulation.ts';
import { GATES, type Gates, type GateTable, gatesOf } from '../api/feature-gates.ts';
import { GATE_CHANGES } from '../api/gate-changes.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/** Gates without effect here; all others change something. They are accepted, because one list of gates is often given to all components. */
const ELSEWHERE: readonly { readonly what: string; readonly names: string }[] = [
  {
    what: 'concerns node agents alone',
    names:
      'AgentCgroupDriverFromCRI AgentCrashLoopBackOffMax AgentEnsureSecretPulledImages AgentInUserNamespace AgentPSI ' +
      'AgentPodResourcesListUseActivePods AgentRegistrationGetOnExistsOnly AgentPodResourcesDynamicResources AgentPodResourcesGet ' +
      'AgentSeparateDiskGC AgentTracing CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions ' +
      'AllowOverwriteTerminationGracePeriodSeconds CPUManagerPolicyOptions CRIListStreaming CSIVolumeHealth ' +
      'ChangeContainerStatusOnAgentRestart ContainerCheckpoint CustomCPUCFSQuotaPeriod ' +
      'DisableCPUQuotaWithExclusiveCPUs DisableNodeProxyVersion EventedPLEG ExecProbeTimeout GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ' +
      'ImageMaximumGCAge InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory LocalStorageCapacityIsolationFSQuotaMonitoring MemoryManager MemoryQoS ' +
      'NodeLogQuery NodeSwap PLEGOnDemandRelist PodAndContainerStatsFromCRI PodLevelResourceManagers ' +
      'PodReadyToStartContainersCondition PodsAPI PreventStaticPodAPIReferences QOSReserved ' +
      'ReduceDefaultCrashLoopBackOffDecay ReloadAgentClientCAFile ReloadAgentServerCertificateFile RotateAgentServerCertificate RuntimeClassInImageCriApi ' +
      'SizeMemoryBackedVolumes SystemdWatchdog TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions ' +
      'TopologyManagerPolicyOptions WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork',
  },
  {
    what: 'concerns the node proxy alone',
    names: 'AllowServiceExternalIPs NFTablesProxyMode WinDSR WinOverlay',
  },
  {
    what: 'concerns the scheduler alone',
    names:
      'DRASchedulerFilterTimeout GangScheduling NominatedNodeNameForExpectation OpportunisticBatching ' +
      'SchedulerAsyncAPICalls SchedulerAsyncPreemption SchedulerPopFromBackoffQ SchedulerQueueingHints ' +
      'StorageCapacityScoring VolumeCapacityPriority',
  },
  {
    what: 'concerns controller managers alone',
    names:
      'AllowDNSOnlyNodeCSR CSIMigrationStorageVendor CloudControllerManagerWatchBasedRoutesReconciliation ' +
      'CloudControllerManagerWebhook ControllerManagerReleaseLeaderElectionLockOnExit CronJobsScheduledAnnotation ' +
      'HonorPVReclaimPolicy InTreePluginStorageVendorUnregister InformerResourceVersion LogarithmicScaleDown ' +
      'PersistentVolumeClaimUnusedSinceTime PodIndexLabel SeparateTaintEvictionController ' +
      'StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet ' +
      'StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison',
  },
  { what: 'concerns what this server does not have, providers of KMS v1', names: 'KMSv1' },
  { what: 'concerns what this server does not have, native histograms', names: 'NativeHistograms' },
  {
    what: 'lists cost by the number of their objects, of which none is read from a disk',
    names: 'SizeBasedListCostEstimate',
  },
  {
    what: 'expressions pay for what their libraries do in any case, because they run while others wait',
    names: 'StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks',
  },
  {
    what: 'concerns the inside of servers in Go, of which clients see nothing',
    names:
      'APIServingWithRoutine AtomicFIFO BtreeWatchCache ClientsAllowCARotation ClientsAllowCBOR ClientsAllowTLSCacheGC ' +
      'ClientsPreferCBOR ConcurrentWatchObjectDecode InOrderInformers InOrderInformersBatchProcess UnlockWhileProcessingFIFO ConsistentListFromCache ContextualLogging ' +
      'DeclarativeValidation DeclarativeValidationBeta DeclarativeValidationTakeover DetectCacheInconsistency ' +
      'ListFromCacheSnapshot PodSchedulingReadiness ResilientWatchCacheInitialization SeparateCacheWatchRPC StorageNamespaceIndex ' +
      'StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf ' +
      'WatchFromStorageWithoutResourceVersion WatchListClient',
  },
];

/** The line of each gate in --help: `APIServerTracing (beta, default true)`. */
export const describeGates = (gates: GateTable = GATES): string[] =>
  [...gates]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { stage, on }]) => {
      const elsewhere = ELSEWHERE.find(({ names }) => names.split(' ').includes(name));
      const note = elsewhere === undefined ? '' : `; ${elsewhere.what}`;
      return `${name} (${stage.toLowerCase()}, default ${on}${note})`;
    });

/** A line of --help for the gates that a later version has with the same stage and default: `1.33, GA, true: A, B`. */
export const describeGateChanges = (): string[] =>
  MINORS.flatMap((minor) =>
    GATE_CHANGES[minor].map(({ stage, on, isLocked = false, names }) => {
      const fixed = isLocked ? ' and locked' : '';
      return `${toVersion(minor)}, ${stage.toLowerCase()}, default ${on}${fixed}: ${names.replaceAll(' ', ', ')}`;
    }),
  );

export interface FeatureGates {
  readonly isEnabled: Gates;
  /** Whether the operator has set the gate, alone or with all of its stage. */
  readonly isGiven: Gates;
}

/** The specification's name for the component, and the ecosystem's. */
const COMPONENTS: ReadonlySet<string> = new Set(['cluster', 'kube']);

/** Names that the ecosystem has for gates which the specification calls otherwise. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...[...gatesOf(NEWEST_MINOR).keys()]
    .filter((name) => name.includes('Agent'))
    .map((name) => [name.replace('Agent', 'Kubelet'), name] as const),
  ['CSIMigrationPortworx', 'CSIMigrationStorageVendor'],
  ['DisableNodeKubeProxyVersion', 'DisableNodeProxyVersion'],
  ['InTreePluginPortworxUnregister', 'InTreePluginStorageVendorUnregister'],
]);

/** @throws UsageError */
export function parseFeatureGates(
  pairs: readonly string[],
  flag: string,
  minor: Minor = DEFAULT_MINOR,
): FeatureGates {
  const gates = gatesOf(minor);
  const given = new Map<string, boolean>();
  for (const pair of pairs) {
    const match = /^(?:([\w-]+):)?(\w+)=(true|false)$/.exec(pair);
    if (match === null)
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} is not of the form Name=true or Name=false`);
    const [, component = 'cluster', said = '', value] = match;
    const name = OTHER_NAMES.get(said) ?? said;
    if (!COMPONENTS.has(component))
      throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
    const gate = gates.get(name);
    if (gate === undefined) throw new UsageError(`${flag}: ${unknownGate(name, gates)}`);
    if (gate.isLocked && value !== String(gate.on))
      throw new UsageError(`${flag}: ${name} cannot be ${value}: ${toVersion(minor)} locks it to ${gate.on}`);
    given.set(name, value === 'true');
  }
  return {
    isGiven: (name) => given.has(name) || given.has(`All${gates.get(name)?.stage ?? ''}`),
    isEnabled: Object.assign(
      (name: string) => {
        const gate = gates.get(name);
        return given.get(name) ?? given.get(`All${gate?.stage ?? ''}`) ?? gate?.on ?? false;
      },
      { minor },
    ),
  };
}

function unknownGate(name: string, gates: GateTable): string {
  const since = MINORS.find((minor) => gatesOf(minor).has(name));
  if (since !== undefined) return `gate ${name} came with ${toVersion(since)}, which is not emulated`;
  const nearest = nearestName(name, [...gates.keys()]);
  return `unknown gate ${name}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`;
}
