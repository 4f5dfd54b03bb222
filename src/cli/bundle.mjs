// The last step of the build: one file of what tsc has made and the packages it needs, beside the modules it is made from.
// Loading 1,400 modules is half of the CPU of a start.
import { chmodSync, cpSync, globSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Nothing of an earlier bundle is of use any more, nor what Node has kept of it (main.ts).
for (const old of globSync('dist/{pg-apiserver*.js,.compiled,deploy}', { cwd: root })) {
  rmSync(join(root, old), { recursive: true, force: true });
}

/** Node makes strings of ASCII from bytes in a quarter of the time, and keeps them in half of the memory. */
const inAscii = (code) =>
  code.replace(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** An import of this module reads all that it exports, and with it WebSocket, for which Node.js loads what `fetch` is made of. */
const requiringHttp = (code) =>
  code.replace(
    /^import (\{.*\}) from "node:http";$/m,
    (_, names) =>
      'import { createRequire as requireIn } from "node:module";\n' +
      `const ${names.replaceAll(' as ', ': ')} = requireIn(import.meta.url)("node:http");`,
  );

/** Halves what loading a bundle takes. */
const quickToLoad = {
  name: 'quick-to-load',
  // Later than renderChunk, behind which strings are printed anew.
  generateBundle: (_, files) => {
    for (const file of Object.values(files))
      if (file.type === 'chunk') file.code = requiringHttp(inAscii(file.code));
  },
};

/** prom-client asks tracing for its exemplars alone, which metrics here do not have, and would load it at each start. */
const withoutExemplars = {
  name: 'without-exemplars',
  enforce: 'pre',
  resolveId: (id, importer = '') =>
    id === '@opentelemetry/api' && importer.includes('/prom-client/') ? '\0no-tracing' : undefined,
  load: (id) => (id === '\0no-tracing' ? 'export {};' : undefined),
};

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  plugins: [quickToLoad, withoutExemplars],
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
    // Of the packages in the bundle.
    license: { fileName: 'licenses.md' },
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

// Modules of one file each, so that the package needs no module beside the bundles: what reads long YAML in a thread of its own
// (codec/yaml-aside.ts), and what programs import.
for (const [module, name] of [
  ['codec/yaml-thread.js', 'yaml-thread'],
  ['testing/start-cluster.js', 'testing'],
])
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: `dist/${module}`,
      outDir: 'dist',
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      target: 'node22',
      rollupOptions: { output: { entryFileNames: `pg-apiserver-${name}.js` } },
    },
  });

// The plugin of kubectl, as one file that works wherever it is copied: as a module in this package, and as a script elsewhere. So it
// has neither import nor require, and asks Node itself for its modules (Node 22.0 to 22.2 cannot be asked, and have require elsewhere).
const plugin = join(root, 'dist/kubectl-history.js');
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: 'dist/kubectl-history/main.js',
    outDir: 'dist',
    emptyOutDir: false,
    copyPublicDir: false,
    minify: false,
    target: 'node22',
    rollupOptions: {
      output: {
        format: 'iife',
        entryFileNames: 'kubectl-history.js',
        banner: '#!/usr/bin/env node',
        globals: Object.fromEntries(
          builtinModules.map((name) => [
            `node:${name}`,
            `(process.getBuiltinModule ?? require)('node:${name}')`,
          ]),
        ),
      },
    },
  },
});
chmodSync(plugin, 0o755);

// What `pg-apiserver chart` and `alerts` give out.
cpSync(join(root, 'src/deploy/chart'), join(root, 'dist/deploy/chart'), { recursive: true });
