import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { Tally } from './kit/tally.ts';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 30_000,
    // Tests with real processes may lose once against a busy machine; whoever loses twice is broken.
    retry: 1,
    hookTimeout: 60_000,
    // Two cores: more files at once would only time each other out.
    maxWorkers: 2,
    reporters: ['default', new Tally()],
    pool: 'forks',
    // CommonJS packages look as they do to Node.
    deps: { interopDefault: false },
  },
});
