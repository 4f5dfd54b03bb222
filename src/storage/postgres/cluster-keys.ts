import { sql } from 'kysely';
import type pg from 'pg';
import { prepare, tables } from './prepared.ts';

/** Of one that all servers of a database share. Both are PEM; the certificate is empty for a bare key. */
export interface ClusterKey {
  readonly certificate: string;
  readonly key: string;
}

export interface KeyWishes {
  /** Whether one that was found may go on being used; one that may not is replaced, for all servers as they start. */
  fits(key: ClusterKey): boolean;
  /** Asked once a cluster, whichever of its servers comes first. */
  make(): Promise<ClusterKey>;
}

/** Answers the cluster's key of this name. An advisory lock lets one server make it while the others wait. */
export async function keepClusterKey(
  client: pg.ClientBase,
  name: string,
  { fits, make }: KeyWishes,
): Promise<ClusterKey> {
  const [kept] = await KEPT.run(client, { name });
  if (kept !== undefined && fits(kept)) return kept;
  await client.query('BEGIN');
  try {
    // Whoever has it is making a key, which takes as long as the machine takes.
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('cluster keys'))");
    const [made] = await KEPT.run(client, { name });
    const key = made !== undefined && fits(made) ? made : await make();
    if (key !== made) await KEEP.run(client, { name, ...key });
    await client.query('COMMIT');
    return key;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
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
