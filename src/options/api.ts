import type { Dialect } from '../api/dialect.ts';
import { type Minor, NEWEST_MINOR, parseMinor, toVersion } from '../api/emulation.ts';
import { DEFAULT_MINOR } from '../version.ts';
import type { CommandLine } from './command-line.ts';
import { describeGateChanges, describeGates, parseFeatureGates } from './feature-gates.ts';
import { list, UsageError } from './flag.ts';
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
      'API versions turned on or off: v1, group/version, api/all, api/ga, api/beta, api/alpha, each =true or =false',
  }),
  emulatedVersion: list('emulated-version', {
    default: [],
    meaning: [
      `version of Kubernetes that is emulated, from ${OLDEST} (the default) to ${NEWEST}, alone or as component=major.minor:`,
      'its APIs, fields, feature gates and defaults. What a newer version stored is kept by an older one.',
    ].join(' '),
    check: emulatedVersion,
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
  const { featureGates, runtimeConfig } = apiFlags;
  return Object.freeze({
    emulated: minor,
    featureGates: parseFeatureGates(given.featureGates, featureGates.shown, minor),
    runtimeConfig: parseRuntimeConfig(given.runtimeConfig, runtimeConfig.shown, minor),
    ...line.valuesOf(domainFlags),
  });
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

/** `1.33` or `cluster=1.33` */
function emulatedVersion(pairs: readonly string[], flag: string): Minor {
  const [pair, ...others] = pairs;
  if (pair === undefined) return DEFAULT_MINOR;
  if (others.length > 0) throw new UsageError(`${flag}: the version of cluster is given twice`);
  const [component = '', version = ''] = pair.includes('=') ? pair.split('=', 2) : ['cluster', pair];
  if (!COMPONENTS.has(component))
    throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
  const minor = parseMinor(version);
  if (minor !== undefined) return minor;
  throw new UsageError(
    `${flag}: ${JSON.stringify(version)} is not available: this server emulates ${OLDEST} to ${NEWEST}`,
  );
}
