import type { Group } from '../bench.ts';
import { atRest } from '../upkeep/at-rest.ts';
import { leaving } from '../upkeep/leaving.ts';
import { pages } from '../upkeep/pages.ts';
import { writes } from '../upkeep/writes.ts';

/** What keeping history and the current state in shape costs PostgreSQL, by the calls that servers make. */
export const upkeep: Group = {
  server: 'own',
  scenarios: [
    { name: 'upkeep/pages/10', run: (stage) => pages(stage, 10) },
    { name: 'upkeep/pages/1000', run: (stage) => pages(stage, 1000) },
    { name: 'upkeep/leaving', run: leaving },
    { name: 'upkeep/write/0.5kB', run: (stage) => writes(stage, 0.5) },
    { name: 'upkeep/write/5kB', run: (stage) => writes(stage, 5) },
    { name: 'upkeep/write/50kB', run: (stage) => writes(stage, 50) },
    { name: 'upkeep/at-rest/10', run: (stage) => atRest(stage, 10) },
    { name: 'upkeep/at-rest/100', run: (stage) => atRest(stage, 100) },
    { name: 'upkeep/at-rest/1000', run: (stage) => atRest(stage, 1000) },
  ],
};
