import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** One test that never ends, for the tests of what a run leaves behind. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    include: ['test/e2e/leftovers/waiting-run.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 600_000,
    pool: 'forks',
  },
});
