import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

/** What a client of its own needs to speak to a server as its administrator. */
export function connectionOptions({ folder }: Cluster): { ca: Buffer; cert: Buffer; key: Buffer } {
  const read = (name: string): Buffer => readFileSync(join(folder, 'certificates', name));
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
}
