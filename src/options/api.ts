import type { Dialect } from '../api/dialect.ts';
import type { CommandLine } from './command-line.ts';
import { describeGates, parseFeatureGates } from './feature-gates.ts';
import { list, UsageError } from './flag.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

export const domainFlags = {
  domains: list('api-domains', {
    default: ['k8s.io', 'cluster.io'],
    meaning: 'domains under which discovery lists API groups; both are always served',
    check: domains,
  }),
};

export const apiFlags = {
  runtimeConfig: list('runtime-config', {
    default: [],
    meaning:
      'API versions turned on or off: v1, group/version, api/all, api/ga, api/beta, api/alpha, each =true or =false',
    check: parseRuntimeConfig,
  }),
  emulatedVersion: list('emulated-version', {
    default: [],
    meaning: 'version of each component whose capabilities are emulated, as component=major.minor',
    check: emulatedVersions,
  }),
  featureGates: list('feature-gates', {
    default: [],
    meaning: ['features turned on or off, as [component:]Name=true or =false:', ...describeGates()].join(
      '\n',
    ),
    check: parseFeatureGates,
  }),
};

/** Served versions and features, and the names of API groups. @throws UsageError */
export function readApi(line: CommandLine) {
  const { featureGates, runtimeConfig } = line.valuesOf(apiFlags);
  return Object.freeze({ featureGates, runtimeConfig, ...line.valuesOf(domainFlags) });
}

const isDialect = (domain: string): domain is Dialect => domain === 'k8s.io' || domain === 'cluster.io';

function domains(given: readonly string[], flag: string): readonly Dialect[] {
  return given.map((domain) => {
    if (isDialect(domain)) return domain;
    throw new UsageError(`${flag}: ${JSON.stringify(domain)} must be k8s.io or cluster.io`);
  });
}

const ONLY = '1.31';
/** The specification's name for the component, and the ecosystem's. */
const COMPONENTS: ReadonlySet<string> = new Set(['cluster', 'kube']);

/** `1.31` or `cluster=1.31`: there is no older version that this one could emulate. */
function emulatedVersions(pairs: readonly string[], flag: string): void {
  const seen = new Set<string>();
  for (const pair of pairs) {
    const [component, version] = pair.includes('=') ? pair.split('=', 2) : ['cluster', pair];
    if (component === undefined || !COMPONENTS.has(component))
      throw new UsageError(`${flag}: unknown component ${JSON.stringify(component)}: only cluster is known`);
    if (seen.has('cluster')) throw new UsageError(`${flag}: the version of cluster is given twice`);
    seen.add('cluster');
    if (version !== ONLY) {
      throw new UsageError(
        `${flag}: ${JSON.stringify(version)} is not available: this server emulates ${ONLY} only`,
      );
    }
  }
}
