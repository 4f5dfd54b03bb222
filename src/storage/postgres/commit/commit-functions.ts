import type { Queryable } from '../connection/prepared.ts';

/** A committing statement, prepared under its name where possible. */
export interface CommitStatement {
  readonly name: string;
  readonly text: string;
  /** How many parameters it has. */
  readonly values: number;
}

export interface CommitStatements {
  /** Whether it takes objects in another form than JSON. */
  readonly encodes: boolean;
  /** For batches that claim no values, which most are; does not look for any. */
  readonly plain: CommitStatement;
  readonly holding: CommitStatement;
}

const COLUMNS =
  '$1::json[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::uuid[], ' +
  '$10::timestamptz[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint, $17::uuid, ' +
  '$18::timestamptz';

function statementsWith(columns: string, suffix: string): Omit<CommitStatements, 'encodes'> {
  const values = columns.split(', ').length;
  return {
    plain: {
      name: `commit_revisions${suffix}`,
      text: `SELECT accepted, live FROM commit_revisions(${columns})`,
      values,
    },
    holding: {
      name: `commit_holding_revisions${suffix}`,
      text: `SELECT accepted, live, taken FROM commit_holding_revisions(${columns}, $${values + 1}::json)`,
      values: values + 1,
    },
  };
}

const ENCODING: CommitStatements = {
  ...{ encodes: true },
  ...statementsWith(`${COLUMNS}, $19::bytea[], $20::text[]`, ''),
};
const OF_JSON: CommitStatements = { encodes: false, ...statementsWith(COLUMNS, '_of_json') };

/**
 * Returns the statements for the functions of the schema. A migration that waits for older servers holds up those after it, and
 * until then commits take JSON alone (migrations/0051).
 */
export async function findCommitStatements(client: Queryable): Promise<CommitStatements> {
  const { rows } = await client.query<{ encodes: boolean | string }>({ text: ENCODES });
  const encodes = rows[0]?.encodes;
  return encodes === true || encodes === 't' ? ENCODING : OF_JSON;
}

const ENCODES = `
  SELECT count(*) = 2 AS encodes
  FROM pg_proc
  WHERE proname IN ('commit_revisions', 'commit_holding_revisions') AND 'encodings' = ANY (proargnames)
    AND pg_function_is_visible(oid)`;
