import { POSTGRES_VERSIONS } from '../../kit/postgres-version.ts';
import type { TestDatabase } from '../../postgres.ts';

type Query = TestDatabase['query'];

/**
 * The schema of a database, from PostgreSQL's catalogs, as SQL for readers: what all migrations together have made. Without what differs
 * from one machine to the next: owners, OIDs, the name of the schema, the numbers of partitions.
 * @throws Error where there is something that it cannot write
 */
export async function writeSchema(query: Query): Promise<string> {
  await assertNothingElse(query);
  const sections: [title: string, pieces: string[]][] = [
    ['Sequences', await writeSequences(query)],
    ['Tables', await writeTables(query)],
    ['Indexes', await writeIndexes(query)],
    [PARTITIONS, await writePartition(query)],
    [FUNCTIONS, await writeFunctions(query)],
    ['Views', await writeViews(query)],
    ['Triggers', await ask(query, TRIGGERS)],
    ['Publication', await ask(query, PUBLICATIONS)],
    ['Rights, beside those of the owner', await ask(query, RIGHTS)],
  ];
  const body = sections.map(([title, pieces]) => {
    const none = pieces.length === 0 ? ['-- None.'] : pieces;
    return [`-- ${'='.repeat(20)} ${title}`, ...none].join('\n\n');
  });
  return `${[HEADER, ...body].join('\n\n\n')}\n`;
}

const HEADER = `-- The schema after all migrations, written by schema.test.ts from PostgreSQL's catalogs. It is read, and never run: no one migration has
-- the current text of what later ones replaced. After a change of migrations write it anew:
--
--     npx vitest run --config test/vitest.config.ts --project systems test/storage/postgres/schema.test.ts -u`;
const PARTITIONS = 'A partition, as make_partition makes it: from LOW to before HIGH';
const FUNCTIONS = 'Functions, by name';

/**
 * Whether {@link writeSchema} says all that schema.sql says. Older versions write the same views in other words, PostgreSQL 14
 * publishes whole rows, and a PostgreSQL that has lz4 stores objects in another way than the embedded one.
 */
export async function isLikeEmbedded(query: Query): Promise<boolean> {
  const [row] = await query<{ major: number; lz4: boolean }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS major,
       EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'revisions'::regclass AND attcompression = 'l') AS lz4`,
  );
  return row?.major === Math.max(...Object.keys(POSTGRES_VERSIONS).map(Number)) && !row.lz4;
}

/** What a text of {@link writeSchema} says on each PostgreSQL. */
export const onAnyPostgres = (schema: string): string =>
  schema
    .replace(/^(CREATE VIEW .* AS)\n[\s\S]*?;$/gm, '$1')
    .replace(/^(CREATE PUBLICATION \S+ FOR TABLE \S+) \(.*?\)/gm, '$1')
    .replace(/ (STORAGE|COMPRESSION) \w+|(?<=toast_tuple_target)=\d+/g, '');

/** Each row is a text. */
async function ask(query: Query, text: string): Promise<string[]> {
  const rows = await query<{ text: string }>(text);
  return rows.map((row) => row.text);
}

const HERE = 'current_schema()::regnamespace';

async function assertNothingElse(query: Query): Promise<void> {
  const found = await ask(query, OTHERS);
  if (found.length > 0) throw new Error(`written-schema.ts cannot write this yet: ${found.join(', ')}`);
}

const OTHERS = `
  SELECT 'type ' || typname AS text FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
  WHERE typnamespace = ${HERE} AND typelem = 0 AND typtype <> 'm' AND (typtype <> 'c' OR c.relkind = 'c')
  UNION ALL SELECT 'relation ' || relname FROM pg_class WHERE relnamespace = ${HERE} AND relkind NOT IN ('r', 'p', 'i', 'I', 'S', 'v')
  UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = ${HERE} AND prokind NOT IN ('f', 'p')
  UNION ALL SELECT 'operator ' || oprname FROM pg_operator WHERE oprnamespace = ${HERE}
  UNION ALL SELECT 'statistics ' || stxname FROM pg_statistic_ext WHERE stxnamespace = ${HERE}
  UNION ALL SELECT 'policy ' || polname FROM pg_policy
  UNION ALL SELECT 'rule ' || rulename FROM pg_rules WHERE schemaname = current_schema()
  UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
  UNION ALL SELECT 'extension ' || extname FROM pg_extension WHERE extname <> 'plpgsql'
  UNION ALL SELECT 'cast to ' || casttarget::regtype FROM pg_cast WHERE oid >= 16384
  UNION ALL SELECT 'inheritance of ' || relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
  WHERE relnamespace = ${HERE} AND NOT relispartition`;

const writeSequences = (query: Query): Promise<string[]> =>
  ask(
    query,
    `SELECT concat_ws(' ', format('CREATE SEQUENCE %I AS %s', c.relname, format_type(s.seqtypid, NULL)),
       CASE WHEN seqstart <> 1 THEN 'START ' || seqstart END, CASE WHEN seqincrement <> 1 THEN 'INCREMENT ' || seqincrement END,
       CASE WHEN seqcache <> 1 THEN 'CACHE ' || seqcache END, CASE WHEN seqcycle THEN 'CYCLE' END, (
         SELECT format('OWNED BY %s.%I', d.refobjid::regclass, a.attname)
         FROM pg_depend d
         JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
         WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
       )) || ';' AS text
     FROM pg_sequence s
     JOIN pg_class c ON c.oid = s.seqrelid
     WHERE c.relnamespace = ${HERE}
     ORDER BY c.relname COLLATE "C"`,
  );

interface Relation {
  readonly oid: number;
  readonly name: string;
  readonly comment: string | null;
  readonly persistence: string;
  readonly partitionKey: string | null;
  readonly options: readonly string[] | null;
}

const RELATIONS = `
  SELECT c.oid::int, c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
    CASE c.relpersistence WHEN 'p' THEN '' WHEN 'u' THEN 'UNLOGGED ' ELSE 'TEMPORARY ' END AS persistence,
    pg_get_partkeydef(c.oid) AS "partitionKey", pg_get_expr(c.relpartbound, c.oid) AS bound,
    (
      SELECT array_agg(o.option ORDER BY o.option COLLATE "C")
      FROM (SELECT unnest(c.reloptions) UNION ALL SELECT 'toast.' || unnest(t.reloptions)) o (option)
    ) AS options
  FROM pg_class c
  LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
  WHERE c.relnamespace = ${HERE}`;
const BY_NAME = 'ORDER BY c.relname COLLATE "C"';

async function writeTables(query: Query): Promise<string[]> {
  const tables = await query<Relation>(
    `${RELATIONS} AND c.relkind IN ('r', 'p') AND NOT c.relispartition ${BY_NAME}`,
  );
  const written: string[] = [];
  for (const table of tables) {
    const lines = [...(await writeColumns(query, table)), ...(await ask(query, constraintsOf(table)))];
    const partitionKey = table.partitionKey === null ? '' : ` PARTITION BY ${table.partitionKey}`;
    const create = `CREATE ${table.persistence}TABLE ${table.name} (`;
    const end = `)${partitionKey}${writeOptions(table)};`;
    const settings = await ask(query, statisticsOf(table));
    written.push([...comment(table.comment), create, ...indented(lines), end, ...settings].join('\n'));
  }
  return written;
}

/** On lines of their own where they are many. */
const writeOptions = ({ options }: Relation): string => {
  if (options === null) return '';
  return options.length > 2 ? ` WITH (\n${indented(options).join('\n')}\n)` : ` WITH (${options.join(', ')})`;
};

interface Column {
  readonly comment: string | null;
  readonly text: string;
}

async function writeColumns(query: Query, table: Relation): Promise<string[]> {
  const columns = await query<Column>(
    `SELECT col_description(attrelid, attnum) AS comment, concat_ws(' ',
       format('%I', attname), format_type(atttypid, atttypmod),
       CASE WHEN attstorage <> typstorage THEN 'STORAGE ' || ${STORAGE} END,
       CASE WHEN attcompression <> '' THEN 'COMPRESSION ' || CASE attcompression WHEN 'l' THEN 'lz4' ELSE 'pglz' END END,
       CASE WHEN attcollation <> typcollation THEN 'COLLATE ' || attcollation::regcollation END,
       CASE WHEN attnotnull THEN 'NOT NULL' END,
       CASE WHEN attidentity <> '' THEN
         format('GENERATED %s AS IDENTITY', CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END)
       END,
       CASE attgenerated WHEN '' THEN 'DEFAULT ' || pg_get_expr(adbin, adrelid)
         ELSE format('GENERATED ALWAYS AS (%s)', pg_get_expr(adbin, adrelid))
       END) AS text
     FROM pg_attribute
     JOIN pg_type t ON t.oid = atttypid
     LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
     ORDER BY attnum`,
    [table.oid],
  );
  return columns.map((column) => [...comment(column.comment), column.text].join('\n'));
}

/** Those of NOT NULL stand at their columns. */
const constraintsOf = ({ oid }: Relation): string => `
  SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)) AS text
  FROM pg_constraint
  WHERE conrelid = ${oid} AND conislocal AND contype <> 'n'
  ORDER BY contype = 'p' DESC, conname COLLATE "C"`;

const STORAGE = `CASE attstorage WHEN 'p' THEN 'PLAIN' WHEN 'm' THEN 'MAIN' WHEN 'e' THEN 'EXTERNAL' ELSE 'EXTENDED' END`;

/** How large a sample ANALYZE takes, and what else of statistics is set: a line for all columns that are alike. */
const statisticsOf = ({ oid }: Relation): string => `
  SELECT format('-- %s: %s.', setting, CASE WHEN count(attname) = every THEN 'all columns'
    ELSE string_agg(attname, ', ' ORDER BY attnum) END) AS text
  FROM (
    SELECT attname, attnum, count(*) OVER () AS every, nullif(concat_ws(', ',
      CASE WHEN attstattarget >= 0 THEN 'STATISTICS ' || attstattarget END, array_to_string(attoptions, ', ')), '') AS setting
    FROM pg_attribute
    WHERE attrelid = ${oid} AND attnum > 0 AND NOT attisdropped
  ) a
  WHERE setting IS NOT NULL
  GROUP BY setting, every
  ORDER BY setting COLLATE "C"`;

/** Those of constraints stand in the tables. */
const INDEXES = `
  SELECT pg_get_indexdef(i.indexrelid, 0, true) || ';' AS text
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_class t ON t.oid = i.indrelid
  WHERE c.relnamespace = ${HERE} AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`;

const writeIndexes = (query: Query): Promise<string[]> =>
  ask(
    query,
    `${INDEXES} AND NOT t.relispartition ORDER BY t.relname COLLATE "C", c.relname COLLATE "C"`,
  ).then((indexes) => (indexes.length === 0 ? [] : [indexes.join('\n')]));

/** The last one. Older ones may have been made by a function of before. */
async function writePartition(query: Query): Promise<string[]> {
  const [partition] = await query<Relation & { parent: string; low: string }>(
    `SELECT r.*, inhparent::regclass::text AS parent, b.low::text
     FROM (${RELATIONS} AND c.relispartition AND c.relkind = 'r') r
     JOIN pg_inherits ON inhrelid = r.oid
     CROSS JOIN LATERAL (SELECT substring(r.bound FROM 'FROM \\(''(\\d+)''\\)')::bigint AS low) b
     ORDER BY b.low DESC NULLS LAST LIMIT 1`,
  );
  if (partition === undefined) return [];
  const { name, parent, low } = partition;
  const create = `CREATE TABLE ${name} PARTITION OF ${parent} (`;
  const constraints = indented(await ask(query, constraintsOf(partition)));
  const end = `) FOR VALUES FROM (LOW) TO (HIGH)${writeOptions(partition)};`;
  const settings = await ask(query, statisticsOf(partition));
  const own = `${INDEXES} AND t.oid = ${partition.oid} AND NOT c.relispartition ORDER BY c.relname COLLATE "C"`;
  const lines = [create, ...constraints, end, ...settings, ...(await ask(query, own))];
  return [lines.join('\n').replaceAll(name, name.replace(/\d+$/, 'LOW')).replaceAll(` < ${low};`, ' < LOW;')];
}

/** With everything that ALTER FUNCTION may set, in the words and the order of PostgreSQL. */
async function writeFunctions(query: Query): Promise<string[]> {
  const functions = await query<{ comment: string | null; text: string }>(
    `SELECT obj_description(p.oid, 'pg_proc') AS comment,
       replace(rtrim(pg_get_functiondef(p.oid), E'\\n'), format('FUNCTION %I.', current_schema()), 'FUNCTION ') || ';' AS text
     FROM pg_proc p
     WHERE p.pronamespace = ${HERE}
     ORDER BY p.proname COLLATE "C", p.pronargs, pg_get_function_identity_arguments(p.oid) COLLATE "C"`,
  );
  return functions.map((each) =>
    [...comment(each.comment), each.text.replace('CREATE OR REPLACE', 'CREATE')].join('\n'),
  );
}

async function writeViews(query: Query): Promise<string[]> {
  const views = await query<Relation>(`${RELATIONS} AND c.relkind = 'v' ${BY_NAME}`);
  const written: string[] = [];
  for (const view of views) {
    const [columns = ''] = await ask(query, columnsOfView(view));
    const [definition = ''] = await ask(query, `SELECT pg_get_viewdef(${view.oid}, 120) AS text`);
    const create = `CREATE VIEW ${view.name}${writeOptions(view)} AS`;
    const head = [...comment(view.comment), ...comment(`Columns: ${columns}.`), create];
    written.push([...head, definition].join('\n'));
  }
  return written;
}

const columnsOfView = ({ oid }: Relation): string => `
  SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum) AS text
  FROM pg_attribute
  WHERE attrelid = ${oid} AND attnum > 0 AND NOT attisdropped`;

const TRIGGERS = `
  SELECT pg_get_triggerdef(t.oid, true) || ';' AS text
  FROM pg_trigger t
  JOIN pg_class c ON c.oid = t.tgrelid
  WHERE c.relnamespace = ${HERE} AND NOT t.tgisinternal AND NOT c.relispartition
  ORDER BY c.relname COLLATE "C", t.tgname COLLATE "C"`;

/** PostgreSQL 14 knows no list of columns. */
const PUBLICATIONS = `
  SELECT format(E'CREATE PUBLICATION %s FOR TABLE %s\\n    WITH (publish = %L%s);', p.pubname,
    (
      SELECT string_agg(t.tablename || coalesce((
        SELECT format(' (%s)', string_agg(c.name, ', ' ORDER BY c.at))
        FROM jsonb_array_elements_text(to_jsonb(t)->'attnames') WITH ORDINALITY c (name, at)
      ), '') || coalesce(' WHERE ' || (to_jsonb(t)->>'rowfilter'), ''), ', ' ORDER BY t.tablename)
      FROM pg_publication_tables t WHERE t.pubname = p.pubname
    ),
    concat_ws(', ', CASE WHEN pubinsert THEN 'insert' END, CASE WHEN pubupdate THEN 'update' END,
      CASE WHEN pubdelete THEN 'delete' END, CASE WHEN pubtruncate THEN 'truncate' END),
    CASE WHEN pubviaroot THEN ', publish_via_partition_root' END) AS text
  FROM pg_publication p
  ORDER BY p.pubname COLLATE "C"`;

/** PUBLIC may execute a new function, so that its loss is what all have in common. */
const RIGHTS = `
  SELECT 'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC; -- renew_grants' AS text
  UNION ALL
  SELECT * FROM (
    SELECT format('GRANT %s ON FUNCTION %s TO %s;', a.privilege_type, p.oid::regprocedure,
      coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC'))
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = ${HERE} AND a.grantee <> p.proowner
    UNION ALL
    SELECT format('GRANT %s ON %s TO %s;', a.privilege_type, c.oid::regclass, coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC'))
    FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.relnamespace = ${HERE} AND a.grantee <> c.relowner
    UNION ALL
    SELECT format('GRANT %s (%I) ON %s TO %s;', a.privilege_type, attname, c.oid::regclass,
      coalesce(nullif(a.grantee, 0)::regrole::text, 'PUBLIC'))
    FROM pg_class c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl) a
    WHERE c.relnamespace = ${HERE} AND a.grantee <> c.relowner
    ORDER BY 1
  ) g`;

/** The parts of a table's parentheses: a comma ends each but the last. */
const indented = (parts: readonly string[]): string[] =>
  parts.map((part, at) => `    ${part.replaceAll('\n', '\n    ')}${at < parts.length - 1 ? ',' : ''}`);

/** In lines of at most 116 characters; a text that has lines of its own keeps them. */
function comment(text: string | null): string[] {
  if (text === null) return [];
  return text
    .split('\n')
    .flatMap((line) => (line.length <= 116 ? [line] : (line.match(/\S.{0,115}(?=\s|$)/g) ?? [])))
    .map((line) => `-- ${line}`.trimEnd());
}
