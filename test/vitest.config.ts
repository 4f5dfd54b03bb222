import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { Tally } from './kit/tally.ts';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Generous, because tests wait for facts: only one that will never come takes so long, also on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Two cores: more files at once would only time each other out.
    maxWorkers: 2,
    reporters: ['default', new Tally()],
    pool: 'forks',
    // CommonJS packages look as they do to Node.
    deps: { interopDefault: false },
  },
});
