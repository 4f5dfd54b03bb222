import { canonicalApiVersion } from '../api/dialect.ts';
import type { GroupVersion } from '../api/names.ts';
import { toApiVersion } from '../api/names.ts';
import { UsageError } from './flag.ts';

/** Which API versions are served. */
export interface RuntimeConfig {
  isEnabled(version: GroupVersion, byDefault: boolean): boolean;
}

const STAGES: Readonly<Record<string, RegExp>> = {
  'api/ga': /^v\d+$/,
  'api/beta': /^v\d+beta\d+$/,
  'api/alpha': /^v\d+alpha\d+$/,
};

/** A named version wins over its stage, and a stage over api/all. @throws UsageError */
export function parseRuntimeConfig(pairs: readonly string[], flag: string): RuntimeConfig {
  const settings = new Map<string, boolean>();
  for (const pair of pairs) {
    const [key = '', value = 'true'] = pair.split('=');
    if (value !== 'true' && value !== 'false') {
      throw new UsageError(`${flag}: ${JSON.stringify(pair)} must end in =true or =false`);
    }
    if (key === 'api/legacy') throw new UsageError(`${flag}: api/legacy does not exist any more`);
    settings.set(canonicalApiVersion(key), value === 'true');
  }
  return {
    isEnabled: (version, byDefault) => {
      const named = settings.get(toApiVersion(version));
      if (named !== undefined) return named;
      const stage = Object.keys(STAGES).find((name) => STAGES[name]?.test(version.version) === true);
      return (stage === undefined ? undefined : settings.get(stage)) ?? settings.get('api/all') ?? byDefault;
    },
  };
}
