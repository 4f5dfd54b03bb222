import type pg from 'pg';

/**
 * Values of statements are whole objects, Secrets among them, and PostgreSQL's log has other readers than its tables. So our
 * sessions turn the logging of values off, where they may: as a superuser, or with SET on the parameter from PostgreSQL 15 on.
 */

/** The first is PostgreSQL's own; the others exist where those modules are loaded. */
const QUIET = {
  log_parameter_max_length: '0',
  'auto_explain.log_parameter_max_length': '0',
  // Plans made for values contain them.
  'auto_explain.log_verbose': 'off',
  'pgaudit.log_parameter': 'off',
};

const FIRST_WITH_PRIVILEGES = 150_000;

/** Returns statements for a session of our own. Values of failed statements are never logged, which takes no right. */
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

/** Returns one line for a person, if PostgreSQL's log would have what this session writes. The session must begin as all of ours. */
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
