import type pg from 'pg';

/**
 * Values of statements are whole objects, Secrets among them, and PostgreSQL's log is read by others than its tables are. So our
 * sessions turn the logging of values off, where they may: it takes a superuser, or SET on the parameter from PostgreSQL 15 on.
 */

/** The first for all that PostgreSQL logs by itself, the second for auto_explain, where that is loaded. */
const VALUE_SETTINGS = ['log_parameter_max_length', 'auto_explain.log_parameter_max_length'] as const;

const FIRST_WITH_PRIVILEGES = 150_000;

/** Statements for a session that is ours alone. What fails with an error is never logged with its values, which takes no right. */
export function hideValues({ isSuperuser, version }: { isSuperuser: boolean; version: number }): string[] {
  const quiet = 'SET log_parameter_max_length_on_error = 0';
  if (!isSuperuser && version < FIRST_WITH_PRIVILEGES) return [quiet];
  const may = (name: string): string => (isSuperuser ? 'true' : `has_parameter_privilege('${name}', 'SET')`);
  return [
    quiet,
    ...VALUE_SETTINGS.map(
      (name) =>
        `SELECT set_config('${name}', '0', false) WHERE current_setting('${name}', true) <> '0' AND ${may(name)}`,
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
  const settings = rows.map(({ setting }) => setting).join(', ');
  const remedies = [...new Set(rows.map(({ remedy }) => remedy))].join('; ');
  return `PostgreSQL writes values into its log, those of Secrets too, because of ${settings}: as a superuser, run ${remedies}`;
}

const LOGGED = `
  WITH settings AS (
    SELECT name, current_setting(name, true) AS value
    FROM unnest(ARRAY[
      'log_statement', 'log_min_duration_statement', 'log_min_duration_sample', 'log_statement_sample_rate',
      'log_transaction_sample_rate', 'auto_explain.log_min_duration', 'pgaudit.log', 'log_parameter_max_length',
      'auto_explain.log_parameter_max_length', 'pgaudit.log_parameter'
    ]) AS name
  ), logging AS (
    SELECT s.name, s.value,
      CASE
        WHEN s.name = 'pgaudit.log' THEN 'pgaudit.log_parameter'
        WHEN s.name LIKE 'auto_explain.%' THEN 'auto_explain.log_parameter_max_length'
        ELSE 'log_parameter_max_length'
      END AS bound
    FROM settings s
    WHERE s.name = 'log_statement' AND s.value IN ('mod', 'all')
      OR s.name IN ('log_min_duration_statement', 'auto_explain.log_min_duration') AND s.value <> '-1'
      OR s.name = 'log_min_duration_sample' AND s.value <> '-1'
        AND EXISTS (SELECT FROM settings r WHERE r.name = 'log_statement_sample_rate' AND r.value <> '0')
      OR s.name = 'log_transaction_sample_rate' AND s.value <> '0'
      OR s.name = 'pgaudit.log' AND s.value NOT IN ('', 'none')
  )
  SELECT format('%s = %s', l.name, l.value) AS setting,
    format('ALTER ROLE %I SET %s = %s', current_user, l.bound, CASE l.bound WHEN 'pgaudit.log_parameter' THEN 'off' ELSE '0' END)
      AS remedy
  FROM logging l JOIN settings b ON b.name = l.bound
  WHERE b.value IS NOT NULL AND b.value NOT IN ('0', 'off')
  ORDER BY l.name`;
