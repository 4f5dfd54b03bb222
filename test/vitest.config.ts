import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { OLDEST_POSTGRES } from './kit/postgres-version.ts';
import { Tally } from './kit/tally.ts';

/** Of test/storage/postgres: what PostgreSQL itself does, rather than what we make of it. */
const ON_THE_OLDEST = [
  ...['allocations', 'binary-rows', 'clocks', 'commit', 'commit-order', 'compaction', 'durability', 'epochs'],
  ...[
    'expiry',
    'feed',
    'filling',
    'history',
    'history-window',
    'load',
    'migrate',
    'prepared',
    'server-leases',
    'shutdown',
  ],
  'roles',
  'stalled-commits',
];

const EVERYWHERE = {
  // Generous, because tests wait for facts: only one that will never come takes so long, also on a busy machine.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  pool: 'forks',
  // CommonJS packages look as they do to Node.
  deps: { interopDefault: false },
} as const;

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/global-setup.ts'],
    // Two cores, and a third file in the time that others wait: more would only time each other out.
    maxWorkers: 3,
    reporters: ['default', new Tally()],
    projects: [
      { test: { ...EVERYWHERE, name: 'all', include: ['test/**/*.test.ts'] } },
      {
        test: {
          ...{ ...EVERYWHERE, name: 'oldest-postgres', env: { TEST_POSTGRES: OLDEST_POSTGRES } },
          include: ON_THE_OLDEST.map((name) => `test/storage/postgres/${name}.test.ts`),
        },
      },
    ],
  },
});
