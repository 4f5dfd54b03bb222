import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type { KnownRow } from './known-row.ts';

/** What the file holds. Revisions are text. */
interface Statement {
  /** When the cluster was made. */
  readonly made: string;
  readonly server: string;
  readonly revision: string | undefined;
  readonly writeId: string | undefined;
  /** The newest revision that a client may know. */
  readonly shown: string;
}

/**
 * Witness keeps what a server knows of the log, outside of the database: a data directory that goes back in time does not take it
 * along. It is written every second, so that a killed server may lose the last second.
 */
export class Witness {
  readonly #path: string;
  readonly #before: Statement | undefined;
  #made: string | undefined;
  #server: string = randomUUID();
  #shown: Revision = NO_REVISION;
  #written = '';

  /** A file that cannot be read counts as none. */
  constructor(path: string) {
    this.#path = path;
    this.#before = readStatement(path);
  }

  /** Identifies this server to the others, also after a restart. */
  get server(): string {
    return this.#server;
  }

  get shown(): Revision {
    return this.#shown;
  }

  /** Whether the schema takes witnesses. */
  get isKnown(): boolean {
    return this.#made !== undefined;
  }

  /** Returns the newest known row of this cluster, named by when it was made. */
  meet(made: string): KnownRow | undefined {
    this.#made = made;
    const before = this.#before;
    if (before?.made !== made) return undefined;
    this.#server = before.server;
    this.#shown = toRevision(before.shown);
    return before.revision === undefined
      ? undefined
      : { revision: toRevision(before.revision), writeId: before.writeId };
  }

  /** Writes the file if anything is new. @throws Error when it cannot be written */
  async write({
    newest,
    shown,
  }: {
    readonly newest: KnownRow | undefined;
    readonly shown: Revision;
  }): Promise<void> {
    if (this.#made === undefined) return;
    const statement: Statement = {
      made: this.#made,
      server: this.#server,
      revision: newest?.revision.toString(),
      writeId: newest?.writeId,
      shown: shown.toString(),
    };
    const text = `${JSON.stringify(statement)}\n`;
    if (text === this.#written) return;
    const fresh = `${this.#path}.new`;
    const file = await open(fresh, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    // Readers get the old file or the new one, never a part.
    await rename(fresh, this.#path);
    this.#written = text;
  }
}

function readStatement(path: string): Statement | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isStatement(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isStatement(read: unknown): read is Statement {
  if (typeof read !== 'object' || read === null) return false;
  const isText = (name: keyof Statement): boolean => typeof Reflect.get(read, name) === 'string';
  const isNumber = (name: keyof Statement): boolean => /^\d{1,19}$/.test(String(Reflect.get(read, name)));
  const hasRow = 'revision' in read;
  return (
    isText('made') &&
    isText('server') &&
    isNumber('shown') &&
    (!hasRow || (isNumber('revision') && isText('writeId')))
  );
}
