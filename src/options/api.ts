import type { Dialect } from '../api/dialect.ts';
import { type Minor, NEWEST_MINOR, parseMinor, toVersion } from '../api/emulation.ts';
import { builtInResources, resourcesBeside } from '../resources/all.ts';
import { DEFAULT_MINOR } from '../version.ts';
import type { CommandLine } from './command-line.ts';
import { describeGateChanges, describeGates, type FeatureGates, parseFeatureGates } from './feature-gates.ts';
import { bool, list, UsageError } from './flag.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

const OLDEST = toVersion(DEFAULT_MINOR);
const NEWEST = toVersion(NEWEST_MINOR);

export const domainFlags = {
  domains: list('api-domains', {
    default: ['k8s.io', 'cluster.io'],
    meaning: 'domains under which discovery lists API groups; both are always served',
    check: domains,
  }),
};

/** What runtimeConfig and featureGates mean depends on the emulated version: {@link readApi}. */
export const apiFlags = {
  runtimeConfig: list('runtime-config', {
    default: [],
    meaning:
      'API versions turned on or off: v1, group/version, group/version/resource, api/all, api/ga, api/beta, api/alpha, each =true or =false',
  }),
  emulatedVersion: list('emulated-version', {
    default: [],
    meaning: [
      `version of Kubernetes that is emulated, from ${OLDEST} (the default) to ${NEWEST}, alone or as component=major.minor:`,
      'its APIs, fields, feature gates and defaults. What a newer version stored is kept by an older one.',
    ].join(' '),
    check: emulatedVersion,
  }),
  minCompatibility: list('min-compatibility-version', {
    default: [],
    since: 35,
    meaning: [
      'oldest version of Kubernetes whose servers must understand what this one stores, at most the emulated one, alone or as',
      'component=major.minor: new expressions use no later functions. Default is the version before the emulated one.',
    ].join(' '),
  }),
  forwardCompatible: bool('emulation-forward-compatible', {
    default: false,
    since: 33,
    meaning:
      'where a version of an API that is not alpha is served, serve its better versions too that came after the emulated version',
  }),
  runtimeConfigForwardCompatible: bool('runtime-config-emulation-forward-compatible', {
    default: false,
    since: 33,
    meaning: 'serve versions that --runtime-config names although they came after the emulated version',
  }),
  featureGates: list('feature-gates', {
    default: [],
    meaning: [
      'features turned on or off, as [component:]Name=true or =false:',
      ...describeGates(),
      'and where --emulated-version names a later version, what came or changed until then:',
      ...describeGateChanges(),
    ].join('\n'),
  }),
};

/** Served versions and features, and the names of API groups. @throws UsageError */
export function readApi(line: CommandLine) {
  const { emulatedVersion: minor, ...given } = line.valuesOf(apiFlags);
  line.assertAllOf(minor);
  const { featureGates, runtimeConfig } = apiFlags;
  for (const flag of ['forwardCompatible', 'runtimeConfigForwardCompatible'] as const)
    if (given[flag] && minor === NEWEST_MINOR)
      throw new UsageError(`${apiFlags[flag].shown}: no later version than the emulated ${NEWEST} is known`);
  const compatible = minCompatibility(given.minCompatibility, minor);
  const gates = parseFeatureGates(given.featureGates, featureGates.shown, minor);
  const config = parseRuntimeConfig(given.runtimeConfig, runtimeConfig.shown, {
    ...{ minor, acceptsLater: given.runtimeConfigForwardCompatible },
  });
  const resources = builtInResources(minor, {
    isNamed: (version) => given.runtimeConfigForwardCompatible && config.isNamed(version),
    followsServed: given.forwardCompatible
      ? (version, byDefault) => config.isEnabled(version, byDefault)
      : undefined,
  });
  return Object.freeze({
    emulated: minor,
    compatible,
    featureGates: {
      ...gates,
      isEnabled: Object.assign((name: string) => gates.isEnabled(name), { minor, compatible }),
    },
    runtimeConfig: config,
    resources,
    resourcesBeside: resourcesBeside(resources),
    ...line.valuesOf(domainFlags),
  });
}

/** @throws UsageError when a flag needs a gate that is off */
export function assertGate(gates: FeatureGates, gate: string, flag: string): void {
  if (!gates.isEnabled(gate))
    throw new UsageError(`${flag} needs ${apiFlags.featureGates.shown}=${gate}=true`);
}

const isDialect = (domain: string): domain is Dialect => domain === 'k8s.io' || domain === 'cluster.io';

function domains(given: readonly string[], flag: string): readonly Dialect[] {
  return given.map((domain) => {
    if (isDialect(domain)) return domain;
    throw new UsageError(`${flag}: ${JSON.stringify(domain)} must be k8s.io or cluster.io`);
  });
}

/** The specification's name for the component, and the ecosystem's. */
const COMPONENTS: ReadonlySet<string> = new Set(['cluster', 'kube']);

function emulatedVersion(pairs: readonly string[], flag: string): Minor {
  const version = versionOfCluster(pairs, flag);
  if (version === undefined) return DEFAULT_MINOR;
  const minor = parseMinor(version);
  if (minor !== undefined) return minor;
  throw new UsageError(
    `${flag}: ${JSON.stringify(version)} is not available: this server emulates ${OLDEST} to ${NEWEST}`,
  );
}

/** Undefined: the version before the emulated one. */
function minCompatibility(pairs: readonly string[], emulated: Minor): Minor | undefined {
  const flag = apiFlags.minCompatibility.shown;
  const version = versionOfCluster(pairs, flag);
  if (version === undefined) return undefined;
  const minor = parseMinor(version);
  if (minor !== undefined && minor <= emulated) return minor;
  throw new UsageError(
    `${flag}: ${JSON.stringify(version)} must be from ${OLDEST} to the emulated version, ${toVersion(emulated)}`,
  );
}

/** `1.33` or `cluster=1.33`; undefined: not given. */
function versionOfCluster(pairs: readonly string[], flag: string): string | undefined {
  const [pair, ...others] = pairs;
  if (pair === undefined) return undefined;
  if (others.length > 0) throw new UsageError(`${flag}: the version of cluster is given twice`);
  const [component = '', version = ''] = pair.includes('=') ? pair.split('=', 2) : ['cluster', pair];
  if (COMPONENTS.has(component)) return version;
  throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
}
