import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as command from './command.ts';

const CACHE = fileURLToPath(new URL('../.compiled', import.meta.url));
const BUNDLE = new URL('../pg-apiserver.js', import.meta.url);

/**
 * The build's bundle, which starts with 0.9 s of CPU instead of the 1.9 s of the modules it is made from. Where it was deleted,
 * for profiles that name files, those are loaded.
 */
async function load(): Promise<typeof command> {
  if (!existsSync(BUNDLE)) return import('./command.ts');
  // A cache that cannot be written is ignored.
  enableCompileCache(CACHE);
  return import(BUNDLE.href);
}

// A stray rejection is a mistake of ours, not a reason to drop everybody's requests.
process.on('unhandledRejection', (error) => process.stderr.write(`unhandled rejection: ${String(error)}\n`));

process.exitCode = await (await load()).run(process.argv.slice(2));
// The process must not wait for anything that still holds the event loop, such as a half-closed connection to a lost database.
setTimeout(() => process.exit(), 500).unref();
