import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Target } from './connection-target.ts';

/**
 * Password is that of a connection: from the URL or the environment, or else from a file in libpq's format (PostgreSQL
 * documentation, 34.16), read for each new connection. That is enough to follow services that rotate passwords, and statements
 * never wait for it.
 */
export class Password {
  readonly #target: Target;
  #last: string | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** Returns the password when `pg` needs it. @throws Error that says where it was looked for */
  async read(): Promise<string> {
    this.#last = await this.#find();
    return this.#last;
  }

  /** Whether the last returned password is not the present one. */
  async hasChanged(): Promise<boolean> {
    if (this.#target.password !== undefined) return false;
    return (await this.#find().catch(() => this.#last)) !== this.#last;
  }

  async #find(): Promise<string> {
    const { password, passfile, user, host } = this.#target;
    if (password !== undefined) return password;
    const file = passfile ?? join(homedir(), '.pgpass');
    const found = findPassword(await readPrivate(file), this.#target);
    if (found !== undefined) return found;
    throw noPassword(`${file} has no line for user ${user} at ${host}`);
  }
}

/** libpq uses no file that others may read. */
async function readPrivate(file: string): Promise<string> {
  // Opening a pipe in its place would wait for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    throw noPassword(`${file} cannot be read${isMissing(error) ? ': there is no such file' : ''}`);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw noPassword(`${file} is not a plain file`);
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
      throw noPassword(`${file} may be read by others and is not used: chmod 600 ${file}`);
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const noPassword = (why: string): Error =>
  Object.assign(
    new Error(
      `PostgreSQL asks for a password: write it into the URL, PGPASSWORD, or a line host:port:database:user:password of the password file; ${why}`,
    ),
    { code: '28P01' },
  );

/**
 * Returns the password of the first line that fits. `*` fits everything; `\` takes the next character as it is:
 *
 *     db.example.com:5432:*:server:pass\:word
 */
export function findPassword(
  text: string,
  target: Pick<Target, 'host' | 'port' | 'user' | 'database'>,
): string | undefined {
  // A socket's folder is listed as localhost.
  const host = target.host.startsWith('/') ? 'localhost' : target.host;
  const wanted = [host, String(target.port), target.database, target.user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = splitFields(line);
    const fits = wanted.every((value, at) => fields[at]?.raw === '*' || fields[at]?.value === value);
    if (fits && fields[4] !== undefined && fields[4].value !== '') return fields[4].value;
  }
  return undefined;
}

interface Field {
  readonly raw: string;
  readonly value: string;
}

const splitFields = (line: string): Field[] =>
  [...line.matchAll(/((?:\\.|[^:\\])*)\\?(?::|$)/g)].map(([, raw = '']) => ({
    raw,
    value: raw.replace(/\\(.)/g, '$1'),
  }));
