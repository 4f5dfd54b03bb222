import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { TestDatabase } from '../postgres.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly lines: string[];
  readonly stderr: string;
}

/** `pg-apiserver migrate` with what is built. */
export function runMigrate(url: string, ...args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [MAIN, 'migrate', `--kvstore-servers=${url}`, ...args],
      (error, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code),
          lines: stdout.trimEnd().split('\n'),
          stderr,
        }),
    );
  });
}

/** Roles are those of all databases of a PostgreSQL: a test has its own, which go with it. */
export class TestRoles implements AsyncDisposable {
  readonly prefix = `r${randomBytes(4).toString('hex')}`;
  readonly #database: TestDatabase;

  constructor(database: TestDatabase) {
    this.#database = database;
  }

  nameOf(role: string): string {
    return `${this.prefix}_${role}`;
  }

  /** A role of the test's own. */
  async make(role: string, attributes = ''): Promise<string> {
    await this.#database.query(`CREATE ROLE ${this.nameOf(role)} LOGIN ${attributes}`);
    return this.urlOf(role);
  }

  /** How the role logs in. */
  async urlOf(role: string): Promise<string> {
    await this.#database.query(`ALTER ROLE ${this.nameOf(role)} PASSWORD 'secret'`);
    const url = new URL(this.#database.url);
    url.username = this.nameOf(role);
    url.password = 'secret';
    return url.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const roles = await this.#database.query<{ name: string }>(
      'SELECT rolname AS name FROM pg_roles WHERE starts_with(rolname, $1)',
      [this.prefix],
    );
    await this.#database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE starts_with(usename, $1)`,
      [this.prefix],
    );
    const owner = (await this.#database.query<{ usr: string }>('SELECT session_user AS usr'))[0]?.usr ?? '';
    for (const { name } of roles) await this.#database.query(`REASSIGN OWNED BY ${name} TO ${owner}`);
    for (const { name } of roles) await this.#database.query(`DROP OWNED BY ${name}`);
    for (const { name } of roles) await this.#database.query(`DROP ROLE ${name}`);
  }
}
