import type { TestDatabase } from '../../postgres.ts';

export interface MadeHistory {
  readonly resource: string;
  readonly objects: number;
  /** Writes of each object, one round after the other. */
  readonly rounds: number;
  /** `default` if absent. */
  readonly namespace?: string;
}

/** Config maps and the like by SQL, `n0000` and so on, as if a server had written them. Answers the revision before the first. */
export async function makeHistory(
  database: TestDatabase,
  { resource, objects, rounds, namespace = 'default' }: MadeHistory,
): Promise<number> {
  const [{ before } = { before: 0 }] = await database.query<{ before: number }>(
    'SELECT greatest((SELECT max(revision) FROM revisions), (SELECT last_value FROM revisions_revision_seq))::int AS before',
  );
  const last = before + objects * rounds;
  await database.query(
    'DO $$ BEGIN WHILE (SELECT high FROM log_bounds) <= ' +
      `${last} LOOP PERFORM make_partition(0); END LOOP; END $$`,
  );
  const written = `
    SELECT r AS revision, '' AS api_group, '${resource}' AS resource, '${namespace}' AS namespace,
      'n' || lpad(((r - ${before} - 1) % ${objects})::text, 4, '0') AS name, md5(((r - ${before} - 1) % ${objects})::text) AS uid,
      CASE WHEN r - ${before} <= ${objects} THEN 'create' ELSE 'update' END AS verb,
      CASE WHEN r - ${before} > ${objects} THEN r - ${objects} END AS previous_revision,
      json_build_object('data', repeat('x', 300), 'round', (r - ${before} - 1) / ${objects}) AS object,
      clock_timestamp() AS committed_at, gen_random_uuid() AS write_id, gen_random_uuid()::text AS request_id
    FROM generate_series(${before + 1}, ${last}) AS r`;
  await database.query(`
    INSERT INTO revisions (
      revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id, request_id,
      username, user_agent, source_address, field_manager, follows_revision
    )
    SELECT revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id, request_id,
      'tester', 'vitest', '127.0.0.1', 'vitest', revision - 1
    FROM (${written}) w`);
  await database.query(`
    INSERT INTO objects (api_group, resource, namespace, name, revision, uid, object, modified_at)
    SELECT api_group, resource, namespace, name, revision, uid, object, committed_at
    FROM revisions WHERE revision > ${last - objects}`);
  await database.query('SELECT setval($1, $2)', ['revisions_revision_seq', last]);
  return before;
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** How many pages of 8 kB a query looks at, whether they are in memory or not, once the session knows the tables. */
export async function pagesOf(database: TestDatabase, text: string, values: unknown[] = []): Promise<number> {
  const ask = async (): Promise<number> => {
    const rows = await database.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    if (plan === undefined) throw new Error('there is no plan');
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  await ask();
  return ask();
}
