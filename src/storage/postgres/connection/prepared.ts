import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type pg from 'pg';
import type { Schema } from './tables.ts';

/** Writes SQL and runs none: callers choose connections, and a failover changes which. */
export const tables = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** A statement with places for values, written once: making the text costs more than a small answer of PostgreSQL. */
export interface Prepared<Values, Row> {
  readonly text: string;
  /** @throws what PostgreSQL says */
  run(client: Queryable, values: Values, prepares?: boolean): Promise<Row[]>;
}

export interface Queryable {
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/**
 * Makes a statement. `write` gets a place for each value that `run` will be given:
 *
 *     const HELD = prepare((of: { pool: string }) =>
 *       tables.selectFrom('allocations').select('value').where('pool', '=', of.pool));
 *     const rows = await HELD.run(pool, { pool: 'IPv4' });
 *
 * Only statements in constant use have a `name`, under which sessions keep them where they may (Connection.prepares). Without one
 * the planner sees the values, which ranges need.
 */
export function prepare<Values extends object, Row extends object>(
  write: (places: Values) => Compilable<Row>,
  name?: string,
): Prepared<Values, Row> {
  const places = new Proxy({}, { get: (_, value) => new Place(value) });
  // A place goes wherever its value would: into the parameters of the query.
  const { sql: text, parameters } = write(places as Values).compile();
  const fill = (values: Values): unknown[] =>
    parameters.map((one) => (one instanceof Place ? toText(Reflect.get(values, one.value)) : one));
  return {
    text,
    run: async (client, values, prepares = false) => {
      const named = name !== undefined && prepares ? { name } : {};
      return (await client.query<Row>({ ...named, text, values: fill(values) })).rows;
    },
  };
}

/**
 * Replaces NUL, which PostgreSQL's text cannot hold, and clients may send in a selector or a token. The next character is in no
 * name either, and sorts before all that are.
 */
const toText = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u0001') : value;

class Place {
  readonly value: string | symbol;

  constructor(value: string | symbol) {
    this.value = value;
  }
}
