import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';

/** Holds a PostgreSQL in the folder it is given, says its process id, and does nothing more. */
const [folder = '', sharedRoot = ''] = process.argv.slice(2);
const settings = ['fsync=off'];
const postgres = new EmbeddedPostgres({ folder, port: 0, settings, sharedRoot, onProgress: () => {} });
await postgres.start();
process.stdout.write(`${postgres.pid}\n`);
setInterval(() => {}, 60_000);
