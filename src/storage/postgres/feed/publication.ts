import { type ClusterSchema, PUBLICATION } from '../connection/cluster-schema.ts';
import type { Queryable } from '../connection/prepared.ts';
import { describeTrouble } from '../connection/trouble.ts';

/** Columns of the stream that rows.ts and replication.ts read. */
const COLUMNS =
  'revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, encoded, media_type, committed_at, write_id, follows_revision';

/** PublicationTrouble says what the stream would lack, and what to run against it. */
export class PublicationTrouble extends Error {
  /** One line of SQL. */
  readonly statement: string;

  constructor({ trouble, statement }: Finding, why?: string) {
    const denied = why === undefined ? '' : `, which this user cannot mend (${why})`;
    super(
      `${trouble}${denied}: as a superuser, or as an owner of the table who may create in the database, run: ${statement}`,
    );
    this.name = 'PublicationTrouble';
    this.statement = statement;
  }
}

interface Finding {
  readonly trouble: string;
  readonly statement: string;
}

/**
 * Checks the publication before a slot is made, and makes it again where the user may: from PostgreSQL 18 on a stream without its
 * publication begins all the same, and is empty for ever. For standbys, there is {@link assertPublication}.
 * @throws PublicationTrouble
 */
export async function keepPublication(
  client: Queryable,
  schema: ClusterSchema | undefined,
  say: (line: string) => void,
): Promise<void> {
  const finding = await findPublicationTrouble(client, schema);
  if (finding === undefined) return;
  let why: string | undefined;
  try {
    // Statements of one text are one transaction: other streams see either publication, never none.
    await client.query({ text: finding.statement });
  } catch (error) {
    why = describeTrouble(error);
  }
  // Another server may have made it meanwhile.
  const left = await findPublicationTrouble(client, schema);
  if (left !== undefined) throw new PublicationTrouble(left, why);
  say(`${finding.trouble}: made it again`);
}

/** Checks the publication on a standby. @throws PublicationTrouble */
export async function assertPublication(client: Queryable, schema: ClusterSchema | undefined): Promise<void> {
  const finding = await findPublicationTrouble(client, schema);
  if (finding !== undefined) throw new PublicationTrouble(finding);
}

/** Returns undefined when it is right, or there is no log yet. */
export async function findPublicationTrouble(
  client: Queryable,
  schema: ClusterSchema | undefined,
): Promise<Finding | undefined> {
  const values = [schema?.publication ?? PUBLICATION];
  const { rows } = await client.query<{ trouble: string | null; statement: string | null }>({
    text: FINDING,
    values,
  });
  const [{ trouble = null, statement = null } = {}] = rows;
  return trouble === null || statement === null ? undefined : { trouble, statement };
}

/** PostgreSQL 14 publishes all columns and rows, and does not list them. Old schemas lack some of the columns. */
const FINDING = `
  WITH log AS (
    SELECT c.oid, n.nspname AS schemaname, c.relname AS tablename, (
      SELECT array_agg(a.attname::text ORDER BY w.place)
      FROM unnest(string_to_array('${COLUMNS}', ', ')) WITH ORDINALITY AS w (name, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = w.name AND NOT a.attisdropped
    ) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('revisions')
  ), published AS (
    SELECT t.schemaname = log.schemaname AND t.tablename = log.tablename AS is_log, to_jsonb(t) AS more
    FROM pg_publication_tables t, log
    WHERE t.pubname = $1
  )
  SELECT
    CASE
      WHEN p.pubname IS NULL THEN format('there is no publication %I', $1::text)
      WHEN NOT p.pubinsert THEN format('the publication %I has no inserts', $1::text)
      WHEN NOT p.pubviaroot THEN format('the publication %I names partitions, not their table', $1::text)
      WHEN NOT EXISTS (SELECT FROM published WHERE is_log) THEN format('the publication %I lacks the table revisions', $1::text)
      WHEN EXISTS (SELECT FROM published WHERE NOT is_log) THEN format('the publication %I has more than the table revisions', $1::text)
      WHEN EXISTS (SELECT FROM published WHERE more ->> 'rowfilter' IS NOT NULL)
        THEN format('the publication %I leaves rows out', $1::text)
      WHEN EXISTS (SELECT FROM published WHERE NOT (more -> 'attnames') @> to_jsonb(log.columns))
        THEN format('the publication %I leaves columns out', $1::text)
    END AS trouble,
    format(
      'DROP PUBLICATION IF EXISTS %I; CREATE PUBLICATION %I FOR TABLE %I.%I%s WITH (publish = %L, publish_via_partition_root = true)',
      $1::text, $1::text, log.schemaname, log.tablename,
      CASE WHEN current_setting('server_version_num')::int >= 150000
        THEN format(' (%s)', array_to_string(log.columns, ', ')) ELSE '' END,
      'insert'
    ) AS statement
  FROM log LEFT JOIN pg_publication p ON p.pubname = $1`;
