/** At another level, statements after a lock do not see what was committed before it was granted. */
export const ISOLATION = 'read committed';

/** The facts of a session before it is changed, as text. */
export interface SessionFacts {
  readonly standby: string;
  readonly readonly: string;
  readonly isolation: string;
  readonly superuser: string;
  readonly version: string;
  readonly usr: string;
}

export const SESSION_FACTS = `
  SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS readonly,
    current_setting('default_transaction_isolation') AS isolation, current_setting('is_superuser') AS superuser,
    current_setting('server_version_num') AS version, current_user AS usr`;

/** Checks a session that is not ours to change. @throws Error */
export function assertIsolation({ isolation, usr }: SessionFacts): void {
  if (isolation === ISOLATION) return;
  throw new Error(
    `behind a pooler that shares sessions, default_transaction_isolation must be ${ISOLATION}, not ${isolation}: ` +
      `ALTER ROLE ${JSON.stringify(usr)} SET default_transaction_isolation = '${ISOLATION}'`,
  );
}
