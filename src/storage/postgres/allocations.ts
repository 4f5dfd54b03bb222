import type { GroupResource } from '../../api/names.ts';
import type { Allocation, Allocations, Holder, PoolValue, RepairReport } from '../allocations.ts';
import type { ObjectKey } from '../key.ts';
import type { Database } from './connection.ts';
import { prepare, tables } from './prepared.ts';
import { LOCK_COMMITS, type TextRow } from './statements.ts';

type AllocationRow = TextRow<'pool' | 'value' | 'namespace' | 'name'>;

export class PostgresAllocations implements Allocations {
  readonly #database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.#database = database;
  }

  async held(pool: string): Promise<string[]> {
    const { pool: connections } = await this.#database();
    return (await HELD.run(connections, { pool })).map(({ value }) => value);
  }

  async holder(value: PoolValue): Promise<ObjectKey | undefined> {
    const { pool: connections } = await this.#database();
    const [key] = await HOLDER.run(connections, value);
    return key;
  }

  async repair(resource: GroupResource, holders: readonly Holder[]): Promise<RepairReport> {
    const { pool } = await this.#database();
    const client = await pool.connect();
    const values = [resource.group, resource.resource, encode(holders)];
    try {
      await client.query('BEGIN');
      // Writes wait: what is read here must still be so when it is put right.
      await client.query(LOCK_COMMITS);
      const removed = await client.query<AllocationRow>(REMOVE, values);
      const added = await client.query<AllocationRow>(ADD, values);
      const contested = await client.query<AllocationRow>(CONTESTED, values);
      await client.query('COMMIT');
      return {
        removed: removed.rows.map(toAllocation),
        added: added.rows.map(toAllocation),
        contested: contested.rows.map(toAllocation),
      };
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  }
}

const toAllocation = ({ pool, value, namespace, name }: AllocationRow): Allocation => ({
  pool,
  value,
  namespace,
  name,
});

function encode(holders: readonly Holder[]): string {
  return JSON.stringify(
    holders.map(({ namespace, name, revision, values }, ordinal) => ({
      ordinal,
      namespace,
      name,
      revision: revision.toString(),
      values: values.map(({ pool, value }) => ({ pool, value })),
    })),
  );
}

const HELD = prepare((of: { readonly pool: string }) =>
  tables.selectFrom('allocations').select('value').where('pool', '=', of.pool),
);

const HOLDER = prepare((of: PoolValue) =>
  tables
    .selectFrom('allocations')
    .select(['api_group as group', 'resource', 'namespace', 'name'])
    .where('pool', '=', of.pool)
    .where('value', '=', of.value),
);

/** The given objects that nobody has written since, and the values they hold. */
const UNCHANGED = `
  unchanged AS MATERIALIZED (
    SELECT g.ordinal, g.namespace, g.name, g.values
    FROM json_to_recordset($3::json) AS g (ordinal int, namespace text, name text, revision bigint, values json)
    JOIN heads h ON h.api_group = $1 AND h.resource = $2 AND h.namespace = g.namespace AND h.name = g.name
      AND h.revision = g.revision
  ), stated AS MATERIALIZED (
    SELECT u.ordinal, u.namespace, u.name, v.pool, v.value
    FROM unchanged u CROSS JOIN LATERAL json_to_recordset(u.values) AS v (pool text, value text)
  )`;

const REMOVE = `
  WITH ${UNCHANGED}
  DELETE FROM allocations l
  WHERE l.api_group = $1 AND l.resource = $2 AND (
    NOT EXISTS (
      SELECT FROM heads h
      WHERE h.api_group = l.api_group AND h.resource = l.resource AND h.namespace = l.namespace AND h.name = l.name
    ) OR (
      (l.namespace, l.name) IN (SELECT namespace, name FROM unchanged)
      AND (l.namespace, l.name, l.pool, l.value) NOT IN (SELECT namespace, name, pool, value FROM stated)
    )
  )
  RETURNING l.pool, l.value, l.namespace, l.name`;

/** Of several objects that hold the same value, the first keeps it. */
const ADD = `
  WITH ${UNCHANGED}
  INSERT INTO allocations (pool, value, api_group, resource, namespace, name, allocated_at)
  SELECT DISTINCT ON (s.pool, s.value) s.pool, s.value, $1, $2, s.namespace, s.name, now()
  FROM stated s
  ORDER BY s.pool, s.value, s.ordinal
  ON CONFLICT (pool, value) DO NOTHING
  RETURNING pool, value, namespace, name`;

const CONTESTED = `
  WITH ${UNCHANGED}
  SELECT s.pool, s.value, s.namespace, s.name
  FROM stated s
  JOIN allocations l ON l.pool = s.pool AND l.value = s.value
  WHERE (l.api_group, l.resource, l.namespace, l.name) <> ($1, $2, s.namespace, s.name)
  ORDER BY s.ordinal, s.pool, s.value`;
