import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NEWEST_MINOR } from '../../src/api/emulation.ts';
import { GATES, gatesOf } from '../../src/api/feature-gates.ts';
import { describeGates, parseFeatureGates } from '../../src/options/feature-gates.ts';

const FLAG = '--feature-gates';

/** Gates that change something here. --help says of every other one whom it concerns. */
const EFFECTIVE: ReadonlySet<string> = new Set([
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
  'DisableAllocatorDualWrite',
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
  'LoggingBetaOptions',
  'MatchLabelKeysInPodAffinity',
  'MatchLabelKeysInPodTopologySpread',
  'MaxUnavailableStatefulSet',
  'MultiCIDRServiceAllocator',
  'MutatingAdmissionPolicy',
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
  'SELinuxMount',
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

test('every gate can be turned on and off', () => {
  for (const name of GATES.keys())
    for (const value of [true, false])
      expect(parseFeatureGates([`${name}=${value}`], FLAG).isEnabled(name)).toBe(value);
});

test('the component is the cluster, by either of its names', () => {
  for (const component of ['cluster', 'kube'])
    expect(parseFeatureGates([`${component}:ImageVolume=true`], FLAG).isEnabled('ImageVolume')).toBe(true);
  expect(() => parseFeatureGates(['other:ImageVolume=true'], FLAG)).toThrow('unknown component "other"');
});

test('--help shows stage and default of every gate, and whom it concerns if not this server', () => {
  const lines = describeGates();
  expect(lines.map((line) => line.split(' ')[0])).toEqual([...GATES.keys()].sort());
  expect(lines).toContain('ImageVolume (alpha, default false)');
  expect(lines).toContain('NodeSwap (beta, default true; concerns node agents alone)');
});

test('every gate of the specification does something here, or is said to concern others', () => {
  const here = describeGates().filter((line) => !line.includes('; '));
  expect(here.map((line) => line.split(' ')[0])).toEqual([...EFFECTIVE].sort());
});

/** All words of the sources, without the lists of gates. */
function wordsOfSources(): ReadonlySet<string> {
  const lists = new Set(['feature-gates.ts', 'gate-changes.ts']);
  const files = readdirSync('src', { recursive: true, withFileTypes: true }).filter(
    (file) => file.isFile() && /\.(ts|proto)$/.test(file.name) && !lists.has(file.name),
  );
  return new Set(
    files.flatMap((file) => readFileSync(join(file.parentPath, file.name), 'utf8').match(/\w+/g) ?? []),
  );
}

test('every gate of every version is asked for somewhere, or is said to concern others, and never both', () => {
  const words = wordsOfSources();
  const lines = describeGates(gatesOf(NEWEST_MINOR)).filter((line) => !/^All(Alpha|Beta) /.test(line));
  const nameOf = (line: string): string => line.split(' ')[0] ?? '';
  const elsewhere = lines.filter((line) => line.includes('; ')).map(nameOf);
  const here = lines.filter((line) => !line.includes('; ')).map(nameOf);
  expect(here.filter((name) => !words.has(name))).toEqual([]);
  expect(elsewhere.filter((name) => words.has(name))).toEqual([]);
});

test('a gate of the ecosystem is taken under the name that it has there', () => {
  for (const [name, ours] of [
    ['KubeletTracing', 'AgentTracing'],
    ['RotateKubeletServerCertificate', 'RotateAgentServerCertificate'],
    ['CSIMigrationPortworx', 'CSIMigrationStorageVendor'],
  ] as const)
    expect(parseFeatureGates([`${name}=false`], FLAG).isEnabled(ours)).toBe(false);
});
