import { UsageError } from '../options/flag.ts';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { storageFlags } from '../options/storage.ts';
import { toClusterSchema } from '../storage/postgres/connection/cluster-schema.ts';
import type { ListedMigration } from '../storage/postgres/migration/run-migrations.ts';
import { type DatabaseSetup, setUpDatabase } from '../storage/postgres/setup.ts';
import { databaseConnection, describeWindow, otherDatabases, windowWish } from './database.ts';
import { parseRoleNames, ROLE_PREFIX } from './role-names.ts';
import { stopSignal } from './stop-signal.ts';
import { waitForDatabase } from './wait-for-database.ts';

/** Options of `migrate` besides the flags of all commands. */
interface MigrateWish {
  readonly kind: 'apply' | 'list' | 'dry run' | 'roles';
  /** The last migration to apply; all by default. */
  readonly to: number | undefined;
  /** For kind 'roles': the names, or their prefix. */
  readonly roles: string | undefined;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * `pg-apiserver migrate`: updates a database without serving. With --history-window it changes that, for all servers. --list
 * shows all migrations, --dry-run the pending ones, --to=84 ends with that one. --roles makes roles for migrating, serving and
 * reading, and migrates as the first of them.
 * @throws Error with a message of one line
 */
export async function runMigrations(args: readonly string[]): Promise<void> {
  const { wish, others } = parseWish(args);
  const { storage: options } = parseOptions(others);
  if (options.databaseUrls.length === 0) {
    throw new UsageError(
      `migrate needs ${storageFlags.databaseUrls.shown}=postgres://…; the embedded PostgreSQL is migrated when it starts`,
    );
  }
  const work = async (): Promise<void> => {
    const others = await otherDatabases(options, options.databaseUrls);
    for (const { resources, urls } of [...others, { resources: [], urls: options.databaseUrls }]) {
      if (resources.length > 0)
        tell(`the database of ${resources.map(({ resource }) => resource).join(', ')}:`);
      else if (others.length > 0) tell('the database of all others:');
      await migrateOne(urls);
    }
  };
  const migrateOne = (urls: readonly string[]): Promise<void> =>
    setUpDatabase(databaseConnection(options, urls), async (database) => {
      if (wish.kind === 'list') return list(await database.listMigrations());
      if (wish.kind === 'dry run') return preview(await database.listMigrations(wish.to), wish);
      tell(database.encryption);
      return apply(database, wish, options);
    });
  await waitForDatabase(work, { signal: stopSignal(), say });
}

async function apply(
  database: DatabaseSetup,
  { kind, to, roles }: MigrateWish,
  options: ServerOptions['storage'],
): Promise<void> {
  const applied =
    kind === 'roles'
      ? await database.makeRoles(parseRoleNames(roles ?? rolePrefix(options)), { say: tell })
      : await database.migrate({ say, serves: false, ...(to === undefined ? {} : { to }) });
  const rest = to === undefined ? 'up to date' : `at migration ${to}`;
  tell(applied.length === 0 ? `the database is ${rest}` : `applied ${applied.join(', ')}`);
  if (options.setsHistoryWindow) tell(describeWindow(await database.keepHistoryWindow(windowWish(options))));
}

/** Each cluster of a shared database has roles of its own. */
const rolePrefix = ({ prefix }: ServerOptions['storage']): string =>
  toClusterSchema(prefix)?.name ?? ROLE_PREFIX;

/** `31 partitions_and_objects: pending; beside servers that know 22` */
function list(migrations: readonly ListedMigration[]): void {
  for (const { id, name, state, beside } of migrations)
    tell(`${id} ${name}: ${state}${beside < id ? `; beside servers that know ${beside}` : ''}`);
}

function preview(
  migrations: readonly ListedMigration[],
  { to = Number.POSITIVE_INFINITY }: MigrateWish,
): void {
  const missing = migrations.filter(({ id, state }) => state !== 'applied' && id <= to);
  for (const { id, name, state } of missing) {
    const note = state === 'pending' ? '' : `, which ${state}`;
    tell(`would apply ${id} ${name}${note}`);
  }
  if (missing.length === 0) tell('there is nothing to apply');
}

/** @throws UsageError */
function parseWish(args: readonly string[]): { wish: MigrateWish; others: string[] } {
  const others: string[] = [];
  let to: number | undefined;
  let roles: string | undefined;
  const asked = new Set<MigrateWish['kind']>();
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name = '', value] = /^--?(list|dry-run|to|roles)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === '') others.push(word);
    else if (name === 'roles') {
      roles = value;
      parseRoleNames(value);
      asked.add('roles');
    } else if (name === 'to') to = parseTo(value ?? words.shift() ?? '');
    else if (isOn(name, value)) asked.add(name === 'list' ? 'list' : 'dry run');
  }
  if (asked.has('list') && (asked.has('dry run') || to !== undefined))
    throw new UsageError('--list shows all migrations: it goes with neither --dry-run nor --to');
  if (asked.has('roles') && (asked.size > 1 || to !== undefined))
    throw new UsageError('--roles applies all migrations: it goes with none of --list, --dry-run and --to');
  const [kind = 'apply'] = asked;
  return { wish: { kind, to, roles }, others };
}

function parseTo(value: string): number {
  if (/^\d{1,4}$/.test(value)) return Number(value);
  throw new UsageError(
    `--to: ${JSON.stringify(value)} is not the number of a migration, such as 84: --list shows them`,
  );
}

function isOn(name: string, value: string | undefined): boolean {
  if (value === undefined || value === 'true') return true;
  if (value === 'false') return false;
  throw new UsageError(`--${name}: ${JSON.stringify(value)} is neither true nor false`);
}
