import { migrateWithOwn } from './own-migrations.ts';

/** A process that only migrates, unless it is killed before. */
const [url = ''] = process.argv.slice(2);
await migrateWithOwn({ url });
process.exit();
