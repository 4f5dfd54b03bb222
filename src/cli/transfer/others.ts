import { parseStored } from '../../codec/stored-object.ts';
import type { Live, Target } from './import-target.ts';
import { ownedByItsCluster } from './shapes.ts';
import type { Source } from './source.ts';

interface Sides {
  readonly source: Pick<Source, 'covers'>;
  readonly target: Pick<Target, 'get'>;
}

/** Finds what only the target has, of what the source would have shown. `seen`: names of objects. @throws StorageError */
export async function findOthers(
  live: ReadonlyMap<string, Live>,
  seen: ReadonlySet<string>,
  { source, target }: Sides,
): Promise<readonly Live[]> {
  const found: Live[] = [];
  for (const [name, one] of live) {
    if (seen.has(name) || !source.covers(one.key)) continue;
    const stored = await target.get(one.key);
    if (stored === undefined) continue;
    if (ownedByItsCluster(one.key, parseStored(stored.json)) === undefined) found.push(one);
  }
  return found;
}
