import { canonicalApiVersion } from '../api/dialect.ts';
import { type Minor, toVersion } from '../api/emulation.ts';
import type { GroupVersion } from '../api/names.ts';
import { toApiVersion } from '../api/names.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { builtInResources, EVERY_RESOURCE } from '../resources/all.ts';
import { DEFAULT_MINOR } from '../version.ts';
import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/** Which API versions are served. */
interface RuntimeConfig {
  isEnabled(version: GroupVersion, byDefault: boolean): boolean;
  /** Whether the version is turned on by its name. */
  isNamed(version: GroupVersion): boolean;
}

const STAGES: Readonly<Record<string, RegExp>> = {
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': /^v\d+alpha\d+$/,
};

const ALL = 'api/all';

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

/** A named version wins over its stage, and a stage over api/all. @throws UsageError */
export function parseRuntimeConfig(
  pairs: readonly string[],
  flag: string,
  emulated: EmulatedApis = { minor: DEFAULT_MINOR },
): RuntimeConfig {
  const settings = new Map<string, boolean>();
  for (const pair of pairs) {
    const [key = '', value = 'true'] = pair.split('=');
    if (value !== 'true' && value !== 'false') {
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} must end in =true or =false`);
    }
    settings.set(knownKey(key, flag, emulated), value === 'true');
  }
  if (settings.size === 1 && settings.get(ALL) === false)
    throw new UsageError(`${flag}: ${ALL}=false alone leaves nothing to serve: name what is to be served`);
  return {
    isNamed: (version) => settings.get(toApiVersion(version)) === true,
    isEnabled: (version, byDefault) => {
      const named = settings.get(toApiVersion(version));
      if (named !== undefined) return named;
      const stage = Object.keys(STAGES).find((name) => STAGES[name]?.test(version.version) === true);
      return (stage === undefined ? undefined : settings.get(stage)) ?? settings.get(ALL) ?? byDefault;
    },
  };
}

/** Refuses unknown versions, which would silently have no effect. */
function knownKey(key: string, flag: string, { minor, acceptsLater = false }: EmulatedApis): string {
  if (key === ALL || Object.hasOwn(STAGES, key)) return key;
  if (key === 'api/legacy') throw new UsageError(`${flag}: ${key} does not exist any more`);
  const version = canonicalApiVersion(key);
  const versions = versionsOf(builtInResources(minor));
  if (versions.includes(version)) return version;
  const isOfOtherVersion = versionsOf(EVERY_RESOURCE).includes(version);
  if (isOfOtherVersion && acceptsLater) return version;
  if (isOfOtherVersion)
    throw new UsageError(`${flag}: Kubernetes ${toVersion(minor)}, which is emulated, has no ${version}`);
  const nearest = nearestName(version, [...versions, ALL, ...Object.keys(STAGES)]);
  const hint =
    nearest === undefined ? 'a key is such as v1, apps/v1 or api/beta' : `did you mean ${nearest}?`;
  throw new UsageError(`${flag}: there is no API version ${JSON.stringify(key)}: ${hint}`);
}
