import { sql } from 'kysely';
import type pg from 'pg';
import type { KeySealer } from '../../key-sealer.ts';
import type { SigningKeyStore, StoredSigningKey } from '../../signing-keys.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { prepare, type Queryable, tables } from '../connection/prepared.ts';
import { withKeyLock } from './key-lock.ts';

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

const RENEW = prepare((of: { readonly id: string; readonly pem: string }) =>
  tables.updateTable('signing_keys').set({ private_key: of.pem }).where('id', '=', of.id),
);

/** All keys have one name: one in place of another gains an attacker nothing. */
const NAME = 'service-account';

async function list(client: Queryable, sealer: KeySealer, prepares = false): Promise<StoredSigningKey[]> {
  const rows = await KEYS.run(client, {}, prepares);
  // While no key is due, the oldest signs.
  const signing = rows.findLast(({ isDue }) => isDue === 'true') ?? rows[0];
  return Promise.all(
    rows.map(async (row) => {
      const { id, pem, madeAt, signsFrom } = row;
      return { id, pem: await sealer.open(NAME, pem), madeAt, signsFrom, signs: row === signing };
    }),
  );
}

/** Lists the keys for running servers. */
export class PostgresSigningKeys implements SigningKeyStore {
  readonly #database: DatabaseSource;

  readonly #sealer: KeySealer;

  constructor(database: DatabaseSource, sealer: KeySealer) {
    this.#database = database;
    this.#sealer = sealer;
  }

  async list(): Promise<readonly StoredSigningKey[]> {
    const { pool, prepares } = await this.#database();
    return list(pool, this.#sealer, prepares);
  }
}

/** Changes the keys for commands, over one connection. */
export class SigningKeyChanges {
  readonly #client: pg.ClientBase;

  readonly #sealer: KeySealer;

  constructor(client: pg.ClientBase, sealer: KeySealer) {
    this.#client = client;
    this.#sealer = sealer;
  }

  list(): Promise<StoredSigningKey[]> {
    return list(this.#client, this.#sealer);
  }

  /** Returns the key that signs. Calls `make` once per cluster, on its first server. */
  ensure(make: () => Promise<string>): Promise<StoredSigningKey> {
    return withKeyLock(this.#client, async () => {
      if ((await this.list()).length === 0) await this.#add(await make(), 0);
      await this.#renew();
      const signing = (await this.list()).find(({ signs }) => signs);
      if (signing === undefined) throw new Error('no key signs');
      return signing;
    });
  }

  /** Adds a key that signs after `delayMs`, and verifies as soon as servers see it. */
  add(pem: string, delayMs: number): Promise<void> {
    return withKeyLock(this.#client, () => this.#add(pem, delayMs));
  }

  async #add(pem: string, delayMs: number): Promise<void> {
    await ADD.run(this.#client, { pem: await this.#sealer.seal(NAME, pem), delayMs });
  }

  /** Seals anew the keys whose stored form is outdated. */
  async #renew(): Promise<void> {
    for (const { id, pem: stored } of await KEYS.run(this.#client, {})) {
      if (!this.#sealer.isOutdated(stored)) continue;
      const pem = await this.#sealer.open(NAME, stored);
      await RENEW.run(this.#client, { id, pem: await this.#sealer.seal(NAME, pem) });
    }
  }

  /** Drops the key that `choose` picks from the present ones. @throws what `choose` throws */
  drop(choose: (keys: readonly StoredSigningKey[]) => StoredSigningKey): Promise<void> {
    return withKeyLock(this.#client, async () => {
      await DROP.run(this.#client, { id: choose(await this.list()).id });
    });
  }
}
