import type pg from 'pg';

/**
 * Values of statements are whole objects, Secrets among them, and PostgreSQL's log is read by others than its tables are. So our
 * sessions turn the logging of values off, where they may: it takes a superuser, or SET on the parameter from PostgreSQL 15 on.
 */

/** The first is for all that PostgreSQL logs by itself; the others are there where those modules are loaded. */
const QUIET = {
  log_parameter_max_length: '0',
  'auto_explain.log_parameter_max_length': '0',
  // Plans that are made for values have these in them.
  'auto_explain.log_verbose': 'off',
  'pgaudit.log_parameter': 'off',
};

const FIRST_WITH_PRIVILEGES = 150_000;

/** Statements for a session that is ours alone. What fails with an error is never logged with its values, which takes no right. */
export function hideValues({ isSuperuser, version }: { isSuperuser: boolean; version: number }): string[] {
  const quiet = 'SET log_parameter_max_length_on_error = 0';
  if (!isSuperuser && version < FIRST_WITH_PRIVILEGES) return [quiet];
  const may = (name: string): string => (isSuperuser ? 'true' : `has_parameter_privilege('${name}', 'SET')`);
  return [
    quiet,
    ...Object.entries(QUIET).map(
      ([name, value]) =>
        `SELECT set_config('${name}', '${value}', false) WHERE current_setting('${name}', true) <> '${value}' AND ${may(name)}`,
    ),
  ];
}

/**
 * One line for a person, where the log of PostgreSQL would have what this session writes; undefined: it would not. Asked over a
 * session as all of ours begin.
 */
export async function describeLoggedValues(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ setting: string; remedy: string }>(LOGGED);
  if (rows.length === 0) return undefined;
  const settings = [...new Set(rows.map(({ setting }) => setting))].join(', ');
  const remedies = [...new Set(rows.map(({ remedy }) => remedy))].join('; ');
  return `PostgreSQL writes values into its log, those of Secrets too, because of ${settings}: as a superuser, run ${remedies}`;
}

const LOGGED = `
  WITH logging AS (
    SELECT name, current_setting(name, true) AS value, bound, quiet
    FROM (VALUES
      ('log_statement', 'log_parameter_max_length', '0'),
      ('log_min_duration_statement', 'log_parameter_max_length', '0'),
      ('log_min_duration_sample', 'log_parameter_max_length', '0'),
      ('log_transaction_sample_rate', 'log_parameter_max_length', '0'),
      ('auto_explain.log_min_duration', 'auto_explain.log_parameter_max_length', '0'),
      ('auto_explain.log_min_duration', 'auto_explain.log_verbose', 'off'),
      ('pgaudit.log', 'pgaudit.log_parameter', 'off')
    ) AS known (name, bound, quiet)
  )
  SELECT format('%s = %s', name, value) AS setting, format('ALTER ROLE %I SET %s = %s', current_user, bound, quiet) AS remedy
  FROM logging
  WHERE current_setting(bound, true) <> quiet AND CASE name
    WHEN 'log_statement' THEN value IN ('mod', 'all')
    WHEN 'log_min_duration_sample' THEN value <> '-1' AND current_setting('log_statement_sample_rate') <> '0'
    WHEN 'log_transaction_sample_rate' THEN value <> '0'
    WHEN 'pgaudit.log' THEN value NOT IN ('', 'none')
    ELSE value <> '-1'
  END
  ORDER BY name, bound`;
