import { createHash } from 'node:crypto';
import { toRevision } from '../../../src/storage/revision.ts';
import { type RowTemplate, type RowWriter, slices } from '../limit/rows.ts';
import type { UpkeepDatabase } from './upkeep-database.ts';

const BATCH = 50_000;

/** The first of these objects, each written once. */
interface Round {
  readonly template: RowTemplate;
  readonly count: number;
  /** Where it begins in the log, and where the round that it replaces began; undefined for the one that creates them. */
  readonly first: number;
  readonly before: number | undefined;
}

/**
 * Fills a partition with some rounds of writes, as commits leave it, by statements for many at once: a tenth of the time that commits
 * take. Objects have their bytes at once, and the writer goes on with them. Returns where the last round begins.
 */
export async function fillPartition(
  database: UpkeepDatabase,
  writer: RowWriter,
  { template, objects, rounds }: { template: RowTemplate; objects: number; rounds: number },
): Promise<number> {
  const low = await makePartition(database, objects * rounds);
  for (let round = 0; round < rounds; round += 1) {
    const first = low + round * objects;
    await writeRound(database, {
      ...{ template, count: objects, first },
      before: round === 0 ? undefined : first - objects,
    });
  }
  const first = low + (rounds - 1) * objects;
  await database.query(
    `INSERT INTO objects (api_group, resource, namespace, name, revision, uid, object, modified_at)
     SELECT api_group, resource, namespace, name, revision, uid, object, committed_at
     FROM revisions WHERE revision >= $1 AND revision < $2`,
    [first, first + objects],
  );
  await finish(database, first + objects - 1);
  for (let object = 0; object < objects; object += 1)
    writer.take(object, { uid: uidOf(template, object), revision: toRevision(first + object) });
  return first;
}

/** Replaces the first of these objects in a partition of their own; the writer does not know of it. */
export async function replaceFirst(
  database: UpkeepDatabase,
  of: Pick<Round, 'template' | 'count'> & { readonly before: number },
): Promise<void> {
  const first = await makePartition(database, of.count);
  await writeRound(database, { ...of, first });
  await database.query(
    `UPDATE objects o SET revision = r.revision, object = r.object, modified_at = r.committed_at
     FROM revisions r
     WHERE r.revision >= $1 AND r.revision < $2 AND o.api_group = r.api_group AND o.resource = r.resource
       AND o.namespace = r.namespace AND o.name = r.name`,
    [first, first + of.count],
  );
  await finish(database, first + of.count - 1);
}

/** Returns the first revision of it. */
async function makePartition(database: UpkeepDatabase, size: number): Promise<number> {
  const [own] = await database.query<{ text: string }>(
    "SELECT pg_get_functiondef('next_partition_size()'::regprocedure) AS text",
  );
  const low = await database.number('SELECT high FROM log_bounds');
  await database.query(
    `CREATE OR REPLACE FUNCTION next_partition_size() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT ${size}::bigint'`,
  );
  await database.query('SELECT make_partition(0)');
  await database.query(own?.text ?? '');
  return low;
}

async function writeRound(
  database: UpkeepDatabase,
  { template, count, first, before }: Round,
): Promise<void> {
  await database.query('SET synchronous_commit = off');
  for (const [from = 0, past = 0] of edges(count))
    await database.query(
      `INSERT INTO revisions (
         revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id, username,
         user_agent, source_address, request_id, field_manager, follows_revision
       )
       SELECT $1::bigint + n, '', $2, $3, name, uid, CASE WHEN $4::bigint IS NULL THEN 'create' ELSE 'update' END, $4 + n,
         replace(replace($5, '$N', n::text), '$U', uid)::json, clock_timestamp(), gen_random_uuid(), 'kubernetes-admin', 'bench',
         '127.0.0.1', gen_random_uuid()::text, 'bench', $1 + n - 1
       FROM (
         SELECT n, replace($6, '$N', n::text) AS name, md5(replace($6, '$N', n::text))::uuid::text AS uid
         FROM generate_series($7::bigint, $8 - 1) AS g (n)
       ) o`,
      [first, template.kind, template.namespace, before, template.json, template.name, from, past],
    );
  await database.query('RESET synchronous_commit');
}

const edges = (count: number): number[][] =>
  [...slices(0, Math.ceil(count / BATCH), 1)].map(([n = 0]) => [n * BATCH, Math.min((n + 1) * BATCH, count)]);

/** What commits go on from; and statistics, which autovacuum would gather meanwhile. */
async function finish(database: UpkeepDatabase, last: number): Promise<void> {
  await database.query("SELECT setval('revisions_revision_seq', $1)", [last]);
  await database.query('UPDATE filling SET filled_to = $1, filled_at = clock_timestamp()', [last]);
  await database.query('VACUUM (ANALYZE) objects');
  await database.query('VACUUM (ANALYZE) revisions');
}

function uidOf({ name }: RowTemplate, object: number): string {
  const hex = createHash('md5')
    .update(name.replace('$N', String(object)))
    .digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
