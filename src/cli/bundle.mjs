// The last step of the build: one file of what tsc has made and the packages it needs, beside the modules it is made from.
// Loading 1,400 modules is half of the CPU of a start.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));

// What Node has kept of an earlier bundle (main.ts) is of no use any more.
rmSync(join(root, 'dist', '.compiled'), { recursive: true, force: true });
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: 'dist/cli/command.js',
    outDir: 'dist',
    emptyOutDir: false,
    copyPublicDir: false,
    minify: false,
    target: 'node22',
    rollupOptions: {
      // Says which file each part was, for log lines (observability/logger.ts).
      experimental: { attachDebugInfo: 'simple' },
      output: { entryFileNames: 'pg-apiserver.js', chunkFileNames: 'pg-apiserver-[name].js' },
    },
  },
});
