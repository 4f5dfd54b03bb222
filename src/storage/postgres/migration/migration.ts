import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROJECT } from '../../../project.ts';

/**
 * A plain SQL file, `NNNN_name.sql`, or a folder `NNNN_name` of several, which are run as one, in their order. Forward only. By itself it
 * is one transaction, all or nothing. Comments on lines of their own say more:
 *
 *     -- beside: 22              servers that know the migrations up to 22 may go on running beside it (expand); without this
 *                                line, only servers that know it may (contract), and it waits for older ones to end
 *     -- in steps                what follows each of these lines is a transaction of its own, in their order:
 *     -- step
 *     -- step repeated           a query, run until it returns 0: work in batches
 *     -- step without transaction   one statement that PostgreSQL wants so: CREATE INDEX CONCURRENTLY
 *     -- replaces: 1 name beside 1 checksum   a baseline: it makes what this older migration and others made, and is noted as all of them
 *
 * Steps may be cut off anywhere and begun again from the first, also by two servers at a time, so each but the last must be
 * repeatable. The last is noted as applied in its own transaction, and is not a repeated one.
 */
export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** What a database notes of an applied migration. */
interface MigrationNote extends Pick<Migration, 'id' | 'name' | 'checksum'> {
  /** The oldest servers that may run beside it, by the newest migration they know. */
  readonly beside: number;
}

export interface MigrationStep {
  readonly kind: 'transaction' | 'repeated' | 'without transaction';
  readonly sql: string;
}

const FOLDER = fileURLToPath(new URL('migrations/', PROJECT));
const FILE_OR_FOLDER = /^\d{4}_[a-z0-9_]+(?:\.sql)?$/;
const STEP = /^-- step(?: (repeated|without transaction))?$/m;

export function readMigrations(folder: string = FOLDER): Migration[] {
  return listIn(folder, FILE_OR_FOLDER).map((entry) => {
    const sql = readSql(`${folder}/${entry}`);
    const checksum = createHash('sha256').update(sql).digest('hex');
    return { id: Number(entry.slice(0, 4)), name: entry.slice(5).replace(/\.sql$/, ''), sql, checksum };
  });
}

function readSql(path: string): string {
  if (path.endsWith('.sql')) return readFileSync(path, 'utf8');
  return listIn(path, /\.sql$/)
    .map((file) => readFileSync(`${path}/${file}`, 'utf8'))
    .join('\n');
}

let newest: number | undefined;

/** The newest migration that this program knows, which its connections announce. */
export function newestMigration(): number {
  newest ??= Number(listIn(FOLDER, FILE_OR_FOLDER).at(-1)?.slice(0, 4) ?? 0);
  return newest;
}

const listIn = (folder: string, names: RegExp): string[] =>
  readdirSync(folder)
    .filter((name) => names.test(name))
    .sort();

/** Returns the oldest servers that may run beside it, by the newest migration they know. */
export function besideOf({ id, sql }: Migration): number {
  const [, beside] = /^-- beside: (\d+)$/m.exec(sql) ?? [];
  return beside === undefined ? id : Number(beside);
}

/** A migration is noted as itself, a baseline as the migrations that it replaces: older servers beside it know these. */
export function notesOf(migration: Migration): MigrationNote[] {
  const replaced = [...migration.sql.matchAll(/^-- replaces: (\d+) (\w+) beside (\d+) ([0-9a-f]{64})$/gm)];
  if (replaced.length === 0) {
    const { id, name, checksum } = migration;
    return [{ id, name, checksum, beside: besideOf(migration) }];
  }
  return replaced.map(([, id, name = '', beside, checksum = '']) => ({
    ...{ id: Number(id), name, checksum },
    beside: Number(beside),
  }));
}

/**
 *     stepsOf('-- in steps\n-- step\nA;\n-- step repeated\nB;') → [{ kind: 'transaction', sql: 'A;' }, { kind: 'repeated', sql: 'B;' }]
 */
export function stepsOf({ sql }: Migration): MigrationStep[] {
  if (!/^-- in steps$/m.test(sql)) return [{ kind: 'transaction', sql }];
  const [, ...pieces] = sql.split(STEP);
  const steps: MigrationStep[] = [];
  for (let at = 0; at < pieces.length; at += 2) {
    steps.push({ kind: toKind(pieces[at]), sql: (pieces[at + 1] ?? '').trim() });
  }
  return steps;
}

function toKind(word: string | undefined): MigrationStep['kind'] {
  return word === 'repeated' || word === 'without transaction' ? word : 'transaction';
}
