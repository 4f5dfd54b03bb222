import { canonicalApiVersion } from '../api/dialect.ts';
import { type Minor, toVersion } from '../api/emulation.ts';
import type { GroupVersion } from '../api/names.ts';
import { toApiVersion } from '../api/names.ts';
import { parseGoBool } from '../object/go-value.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { builtInResources, EVERY_RESOURCE } from '../resources/all.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/** Which API versions are served. */
interface RuntimeConfig {
  isEnabled(version: GroupVersion, byDefault: boolean, resource?: string): boolean;
  /** Whether the version is turned on by its name. */
  isNamed(version: GroupVersion): boolean;
}

const STAGES: Readonly<Record<string, RegExp>> = {
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': /^v\d+alpha\d+$/,
};

const ALL = 'api/all';

/** Old command lines have it: kube-apiserver accepts it, and it has no effect. */
const LEGACY = 'api/legacy';

const versionsOf = (
  resources: readonly Pick<ResourceDefinition, 'group' | 'versions'>[],
): readonly string[] => [
  ...new Set(
    resources.flatMap(({ group, versions }) =>
      versions.map(({ version }) => toApiVersion({ group, version })),
    ),
  ),
];

interface EmulatedApis {
  readonly minor: Minor;
  /** Whether versions may be named that came later. */
  readonly acceptsLater?: boolean;
}

/** A named resource wins over its version, a version over its stage, and a stage over api/all. @throws UsageError */
export function parseRuntimeConfig(
  pairs: readonly string[],
  flag: string,
  emulated: EmulatedApis = { minor: DEFAULT_MINOR },
): RuntimeConfig {
  const settings = new Map<string, boolean>();
  for (const pair of pairs) {
    const [written = '', value = ''] = pair.split('=');
    const isOn = value === '' || parseGoBool(value);
    if (isOn === undefined)
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} must end in =true or =false`);
    if (written !== LEGACY) settings.set(knownKey(written, flag, emulated), isOn);
  }
  if (settings.size === 1 && settings.get(ALL) === false)
    throw new UsageError(`${flag}: ${ALL}=false alone leaves nothing to serve: name what is to be served`);
  return {
    isNamed: (version) => settings.get(toApiVersion(version)) === true,
    isEnabled: (version, byDefault, resource) => {
      const apiVersion = toApiVersion(version);
      const named = settings.get(`${apiVersion}/${resource}`) ?? settings.get(apiVersion);
      if (named !== undefined) return named;
      const stage = Object.keys(STAGES).find((name) => STAGES[name]?.test(version.version) === true);
      return (stage === undefined ? undefined : settings.get(stage)) ?? settings.get(ALL) ?? byDefault;
    },
  };
}

/**
 * Versions that every emulated Kubernetes knows, also where it does not serve them: older ones, later ones, and those of reviews
 * that it sends. kube-apiserver accepts them, and any resource named with them. They have no effect.
 */
const KNOWN: ReadonlySet<string> = new Set([
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'apps/v1beta1',
  'apps/v1beta2',
  'authentication.k8s.io/v1alpha1',
  'authentication.k8s.io/v1beta1',
  'authorization.k8s.io/v1beta1',
  'batch/v1beta1',
  'certificates.k8s.io/v1beta1',
  'coordination.k8s.io/v1beta1',
  'discovery.k8s.io/v1beta1',
  'events.k8s.io/v1beta1',
  'extensions/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta2',
  'flowcontrol.apiserver.k8s.io/v1beta3',
  'imagepolicy.k8s.io/v1alpha1',
  'node.k8s.io/v1alpha1',
  'node.k8s.io/v1beta1',
  'policy/v1beta1',
  'rbac.authorization.k8s.io/v1alpha1',
  'rbac.authorization.k8s.io/v1beta1',
  'scheduling.k8s.io/v1beta1',
  'storage.k8s.io/v1alpha1',
]);

/** The same, in Kubernetes 1.31. */
const KNOWN_IN_1_31: ReadonlySet<string> = new Set([
  'networking.k8s.io/v1alpha1',
  'scheduling.k8s.io/v1alpha1',
]);

/** The same, up to Kubernetes 1.35. */
const KNOWN_BEFORE_1_36: ReadonlySet<string> = new Set(['autoscaling/v2beta1', 'autoscaling/v2beta2']);

const isKnown = (version: string, minor: Minor): boolean =>
  KNOWN.has(version) ||
  (minor < 36 && KNOWN_BEFORE_1_36.has(version)) ||
  (minor === 31 && KNOWN_IN_1_31.has(version));

/** The core group by its path, and with anything behind its version: kube-apiserver reads all of these as v1. */
const CORE = /^(?:api\/)?v1(?:\/|$)/;

/** Refuses unknown versions, which would silently have no effect. */
function knownKey(written: string, flag: string, { minor, acceptsLater = false }: EmulatedApis): string {
  if (written === ALL || Object.hasOwn(STAGES, written)) return written;
  const key = CORE.test(written) ? 'v1' : written;
  const [, apiVersion = key, resource] = /^([^/]+\/[^/]+)\/([^/]+)$/.exec(key) ?? [];
  const version = canonicalApiVersion(apiVersion);
  const known = builtInResources(minor);
  const versions = versionsOf(known);
  if (versions.includes(version)) return knownResource(version, resource, { known, flag });
  const isOfOtherVersion = versionsOf(EVERY_RESOURCE).includes(version);
  if (isOfOtherVersion && acceptsLater)
    return knownResource(version, resource, { known: EVERY_RESOURCE, flag });
  if (isKnown(version, minor)) return key;
  if (isOfOtherVersion)
    throw new UsageError(`${flag}: Kubernetes ${toVersion(minor)}, which is emulated, has no ${version}`);
  const nearest = nearestName(version, [...versions, ALL, ...Object.keys(STAGES)]);
  const hint =
    nearest === undefined ? 'a key is such as v1, apps/v1 or api/beta' : `did you mean ${nearest}?`;
  throw new UsageError(`${flag}: there is no API version ${JSON.stringify(written)}: ${hint}`);
}

type Versioned = Pick<ResourceDefinition, 'group' | 'versions' | 'resource'>;

function knownResource(
  version: string,
  resource: string | undefined,
  { known, flag }: { known: readonly Versioned[]; flag: string },
): string {
  if (resource === undefined) return version;
  const names = known.filter((one) => versionsOf([one]).includes(version)).map((one) => one.resource);
  if (names.includes(resource)) return `${version}/${resource}`;
  const nearest = nearestName(resource, names);
  const hint = nearest === undefined ? `it has ${names.join(', ')}` : `did you mean ${nearest}?`;
  throw new UsageError(`${flag}: ${version} has no resource ${JSON.stringify(resource)}: ${hint}`);
}
