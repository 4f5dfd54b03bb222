/** A committing statement, prepared under its name where possible. */
interface CommitStatement {
  readonly name: string;
  readonly text: string;
  /** How many parameters it has. */
  readonly values: number;
}

const COLUMNS =
  '$1::json[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::uuid[], ' +
  '$10::timestamptz[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint, $17::uuid, ' +
  '$18::timestamptz, $19::bytea[], $20::text[]';

/** For batches that claim no values, which most are; does not look for any. */
export const PLAIN: CommitStatement = {
  name: 'commit_revisions',
  text: `SELECT accepted, live FROM commit_revisions(${COLUMNS})`,
  values: 20,
};

export const HOLDING: CommitStatement = {
  name: 'commit_holding_revisions',
  text: `SELECT accepted, live, taken FROM commit_holding_revisions(${COLUMNS}, $21::json)`,
  values: 21,
};
