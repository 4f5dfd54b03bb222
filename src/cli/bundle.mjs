// The last step of the build: one file of what tsc has made and the packages it needs, beside the modules it is made from.
// Loading 1,400 modules is half of the CPU of a start.
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Nothing of an earlier bundle is of use any more, nor what Node has kept of it (main.ts).
for (const old of globSync('dist/{pg-apiserver*.js,.compiled}', { cwd: root })) {
  rmSync(join(root, old), { recursive: true, force: true });
}
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  // gRPC does not work out of a bundle; it is loaded by those alone whose flags need it.
  ssr: {
    noExternal: true,
    external: [
      '@grpc/grpc-js',
      ...['api', 'exporter-trace-otlp-grpc', 'resources', 'sdk-trace'].map(
        (name) => `@opentelemetry/${name}`,
      ),
    ],
    target: 'node',
  },
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
