import { canonicalApiVersion } from '../api/dialect.ts';
import type { GroupVersion } from '../api/names.ts';
import { toApiVersion } from '../api/names.ts';
import { BUILT_IN_RESOURCES } from '../resources/all.ts';
import { nearestName } from './checks.ts';
import { UsageError } from './flag.ts';

/** Which API versions are served. */
interface RuntimeConfig {
  isEnabled(version: GroupVersion, byDefault: boolean): boolean;
}

const STAGES: Readonly<Record<string, RegExp>> = {
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': /^v\d+alpha\d+$/,
};

const ALL = 'api/all';

const VERSIONS: readonly string[] = [
  ...new Set(
    BUILT_IN_RESOURCES.flatMap(({ group, versions }) =>
      versions.map(({ version }) => toApiVersion({ group, version })),
    ),
  ),
];

/** A named version wins over its stage, and a stage over api/all. @throws UsageError */
export function parseRuntimeConfig(pairs: readonly string[], flag: string): RuntimeConfig {
  const settings = new Map<string, boolean>();
  for (const pair of pairs) {
    const [key = '', value = 'true'] = pair.split('=');
    if (value !== 'true' && value !== 'false') {
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} must end in =true or =false`);
    }
    settings.set(knownKey(key, flag), value === 'true');
  }
  if (settings.size === 1 && settings.get(ALL) === false)
    throw new UsageError(`${flag}: ${ALL}=false alone leaves nothing to serve: name what is to be served`);
  return {
    isEnabled: (version, byDefault) => {
      const named = settings.get(toApiVersion(version));
      if (named !== undefined) return named;
      const stage = Object.keys(STAGES).find((name) => STAGES[name]?.test(version.version) === true);
      return (stage === undefined ? undefined : settings.get(stage)) ?? settings.get(ALL) ?? byDefault;
    },
  };
}

/** Refuses unknown versions, which would silently have no effect. */
function knownKey(key: string, flag: string): string {
  if (key === ALL || Object.hasOwn(STAGES, key)) return key;
  if (key === 'api/legacy') throw new UsageError(`${flag}: ${key} does not exist any more`);
  const version = canonicalApiVersion(key);
  if (VERSIONS.includes(version)) return version;
  const nearest = nearestName(version, [...VERSIONS, ALL, ...Object.keys(STAGES)]);
  const hint =
    nearest === undefined ? 'a key is such as v1, apps/v1 or api/beta' : `did you mean ${nearest}?`;
  throw new UsageError(`${flag}: there is no API version ${JSON.stringify(key)}: ${hint}`);
}
