import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The module of a thread: the command line's own entry, beside this module or below the bundle that this module is part of. */
export function threadFile(): string {
  const here = fileURLToPath(import.meta.url);
  const beside = join(dirname(here), `entry${extname(here)}`);
  return existsSync(beside) ? beside : join(dirname(here), 'cli', 'entry.js');
}
