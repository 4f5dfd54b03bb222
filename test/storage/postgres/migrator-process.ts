import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';

/** A process that only migrates, to the migration that it is given or to the newest, unless it is killed before. */
const [url = '', to] = process.argv.slice(2);
await setUpDatabase({ urls: [url], poolSize: 1 }, (database) =>
  database.migrate(to === undefined ? {} : { to: Number(to) }),
);
process.exit();
