import { sql } from 'kysely';
import type pg from 'pg';
import type { KeySealer } from '../../key-sealer.ts';
import { prepare, tables } from '../connection/prepared.ts';
import { withKeyLock } from './key-lock.ts';

/** A key that all servers of a database share. Both are PEM; the certificate is empty for a bare key. */
export interface ClusterKey {
  readonly certificate: string;
  readonly key: string;
}

export interface KeyWishes {
  /** Whether a found key may stay in use; otherwise it is replaced, for all servers as they start. */
  fits(key: ClusterKey): boolean;
  /** Called once per cluster, on its first server. */
  make(): Promise<ClusterKey>;
}

/**
 * Returns the cluster's key of this name. Makes it under a lock, for which other servers wait, and stores it anew when its
 * stored form is outdated.
 */
export async function keepClusterKey(
  client: pg.ClientBase,
  name: string,
  { fits, make }: KeyWishes,
  sealer: KeySealer,
): Promise<ClusterKey> {
  const kept = await findKept(client, name, sealer);
  if (kept !== undefined && !kept.isOutdated && fits(kept)) return kept;
  return withKeyLock(client, async () => {
    const made = await findKept(client, name, sealer);
    const isGood = made !== undefined && fits(made);
    if (isGood && !made.isOutdated) return made;
    const { certificate, key } = isGood ? made : await make();
    await KEEP.run(client, { name, certificate, key: await sealer.seal(name, key) });
    return { certificate, key };
  });
}

async function findKept(
  client: pg.ClientBase,
  name: string,
  sealer: KeySealer,
): Promise<(ClusterKey & { readonly isOutdated: boolean }) | undefined> {
  const [kept] = await KEPT.run(client, { name });
  if (kept === undefined) return undefined;
  const { certificate, key: stored } = kept;
  return { certificate, key: await sealer.open(name, stored), isOutdated: sealer.isOutdated(stored) };
}

const KEPT = prepare((of: { readonly name: string }) =>
  tables.selectFrom('cluster_keys').select(['certificate', 'private_key as key']).where('name', '=', of.name),
);

const KEEP = prepare((of: ClusterKey & { readonly name: string }) =>
  tables
    .insertInto('cluster_keys')
    .values({ name: of.name, certificate: of.certificate, private_key: of.key })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet(({ ref }) => ({
        certificate: ref('excluded.certificate'),
        private_key: ref('excluded.private_key'),
        made_at: sql<string>`now()`,
      })),
    ),
);
