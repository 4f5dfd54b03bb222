import type { Bench, Group, Scenario } from '../bench.ts';
import { many } from '../custom/many.ts';
import { compare, compareWatches, prepare, ruled, type Verb } from '../custom/objects.ts';
import { served } from '../custom/served.ts';

const VERBS: readonly Verb[] = ['create', 'get', 'list', 'update', 'patch'];

/** Custom resources beside built-in ones. */
const objects: Group = {
  server: 'shared',
  prepare,
  scenarios: [
    ...VERBS.map(
      (verb): Scenario<Bench> => ({ name: `custom/${verb}`, run: (bench) => compare(bench, verb) }),
    ),
    { name: 'custom/watch', run: compareWatches },
    { name: 'custom/ruled', run: ruled },
  ],
};

/** What definitions cost. */
const definitions: Group = {
  server: 'own',
  scenarios: [
    { name: 'custom/served', run: served },
    { name: 'custom/many', run: many },
  ],
};

export const CUSTOM_GROUPS: readonly Group[] = [objects, definitions];
