import { sql } from 'kysely';
import type pg from 'pg';
import type { SigningKeyStore, StoredSigningKey } from '../signing-keys.ts';
import type { DatabaseSource } from './connection.ts';
import { withKeyLock } from './key-lock.ts';
import { prepare, type Queryable, tables } from './prepared.ts';

const toTime = (column: string) =>
  sql<string>`to_char(${sql.ref(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const KEYS = prepare(
  () =>
    tables
      .selectFrom('signing_keys')
      .select([
        sql<string>`id::text`.as('id'),
        'private_key as pem',
        toTime('made_at').as('madeAt'),
        toTime('signs_from').as('signsFrom'),
        // The database's clock alone decides: servers' clocks differ.
        sql<string>`(signs_from <= now())::text`.as('isDue'),
      ])
      .orderBy('signing_keys.id'),
  'signing_keys',
);

const ADD = prepare((of: { readonly pem: string; readonly delayMs: number }) =>
  tables.insertInto('signing_keys').values({
    private_key: of.pem,
    signs_from: sql<string>`now() + ${of.delayMs} * interval '1 millisecond'`,
  }),
);

const DROP = prepare((of: { readonly id: string }) =>
  tables.deleteFrom('signing_keys').where('id', '=', of.id),
);

async function list(client: Queryable, prepares = false): Promise<StoredSigningKey[]> {
  const rows = await KEYS.run(client, {}, prepares);
  // The only key signs whatever its time.
  const signing = rows.findLast(({ isDue }) => isDue === 'true') ?? rows[0];
  return rows.map((row) => {
    const { id, pem, madeAt, signsFrom } = row;
    return { id, pem, madeAt, signsFrom, signs: row === signing };
  });
}

/** What servers follow while they run. */
export class PostgresSigningKeys implements SigningKeyStore {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async list(): Promise<readonly StoredSigningKey[]> {
    const { pool, prepares } = await this.#database();
    return list(pool, prepares);
  }
}

/** What commands do with the keys, over one connection. */
export class SigningKeyChanges {
  readonly #client: pg.ClientBase;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  list(): Promise<StoredSigningKey[]> {
    return list(this.#client);
  }

  /** Answers the one that signs. `make` is asked once a cluster, whichever of its servers comes first. */
  ensure(make: () => Promise<string>): Promise<StoredSigningKey> {
    return withKeyLock(this.#client, async () => {
      if ((await this.list()).length === 0) await ADD.run(this.#client, { pem: await make(), delayMs: 0 });
      const signing = (await this.list()).find(({ signs }) => signs);
      if (signing === undefined) throw new Error('no key signs');
      return signing;
    });
  }

  /** From `delayMs` on it signs; it verifies as soon as servers see it. */
  add(pem: string, delayMs: number): Promise<void> {
    return withKeyLock(this.#client, async () => {
      await ADD.run(this.#client, { pem, delayMs });
    });
  }

  /** `choose` gets the keys as they are then, and answers the one to drop. @throws what it throws */
  drop(choose: (keys: readonly StoredSigningKey[]) => StoredSigningKey): Promise<void> {
    return withKeyLock(this.#client, async () => {
      await DROP.run(this.#client, { id: choose(await this.list()).id });
    });
  }
}
