import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './kit/longest-first.ts';
import { OLDEST_POSTGRES } from './kit/postgres-version.ts';
import { Progress } from './kit/progress.ts';
import { Tally } from './kit/tally.ts';

/** What PostgreSQL itself does, rather than what we make of it. `npm run test:postgres-versions` runs all of test/storage/postgres. */
const ON_THE_OLDEST = ['binary-rows', 'commit', 'feed', 'history', 'migrate', 'schema'].map(
  (name) => `test/storage/postgres/${name}.test.ts`,
);

const ALONE = [
  ...['test/e2e/hostile/*.test.ts', 'test/e2e/large-answers.test.ts'],
  'test/discovery/openapi-custom.test.ts',
  // Measures the memory of its process.
  'test/storage/slabs.test.ts',
];

/** What `npm test` asks for. Vitest would import a file to find out that all its tests are long. */
const WITHOUT_LONG = '--tags-filter=!long';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LONG_FILES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file}`)
  .filter((file) => readFileSync(join(ROOT, file), 'utf8').startsWith('// @module-tag long\n'));
const IS_SHORT = process.argv.includes(WITHOUT_LONG);
const LEFT_OUT = IS_SHORT ? LONG_FILES : [];

/** These start servers, databases and processes. All others call functions. */
const APART = ['cli', 'e2e', 'faults', 'storage/contract', 'storage/postgres'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

const EVERYWHERE = {
  // Generous, because tests wait for facts: only one that will never come takes so long, also on a busy machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks',
  // Files share the processes of their project and what these have loaded: loading it for each file takes 0.6 s of CPU.
  isolate: false,
  // CommonJS packages look as they do to Node.
  deps: { interopDefault: false },
} as const;

export default defineConfig({
  test: {
    root: ROOT,
    // kit/cases.ts
    env: IS_SHORT ? { TEST_SHORT: 'yes' } : {},
    globalSetup: ['test/global-setup.ts'],
    // Two cores, and three more files in the time that others wait: more would only time each other out.
    maxWorkers: 5,
    reporters: ['default', new Progress(), new Tally()],
    sequence: { sequencer: LongestFirst },
    tags: [
      {
        name: 'long',
        timeout: 300_000,
        description:
          'Takes long, and something shorter guards its promise in `npm test` too. `npm run test:all` and `npm test -- FILE` run it.',
      },
    ],
    projects: [
      {
        test: {
          ...{ ...EVERYWHERE, name: 'functions', include: ['test/**/*.test.ts'] },
          exclude: [...APART, ...ALONE, ...LEFT_OUT],
        },
      },
      { test: { ...EVERYWHERE, name: 'systems', include: APART, exclude: [...ALONE, ...LEFT_OUT] } },
      {
        test: {
          ...{ ...EVERYWHERE, name: 'oldest-postgres', env: { TEST_POSTGRES: OLDEST_POSTGRES } },
          include: ON_THE_OLDEST,
        },
      },
      // What measures the time of a thread has the machine for itself: neighbours in its caches make the same work longer.
      {
        test: {
          ...{ ...EVERYWHERE, name: 'alone', include: ALONE, exclude: LEFT_OUT, isolate: true },
          ...{ maxWorkers: 1, sequence: { groupOrder: 1 } },
        },
      },
    ],
  },
});
