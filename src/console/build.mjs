// A step of the build: the console's files, into dist/console, as they are and packed, so that the server packs nothing.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'vite';

const outDir = fileURLToPath(new URL('../../dist/console', import.meta.url));

await build({
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  logLevel: 'warn',
  // The page may be behind a proxy that puts a prefix before all paths.
  base: './',
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // What is in the page itself, the policy of the page forbids.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
});

for (const file of globSync('**/*.{html,css,js,svg}', { cwd: outDir })) {
  const plain = readFileSync(join(outDir, file));
  for (const [suffix, packed] of [
    ['.br', brotliCompressSync(plain)],
    ['.gz', gzipSync(plain, { level: 9 })],
  ]) {
    if (packed.length < plain.length) writeFileSync(join(outDir, file + suffix), packed);
  }
}
