import type { GroupResource } from '../../../api/names.ts';
import type { Allocation, Allocations, Holder, PoolValue, RepairReport } from '../../allocations.ts';
import type { ObjectKey } from '../../key.ts';
import type { Database } from '../connection/connection.ts';
import { prepare, type Queryable, tables } from '../connection/prepared.ts';
import { rethrow, type TextRow } from '../connection/statements.ts';

type RepairRow = TextRow<'outcome' | 'pool' | 'value' | 'namespace' | 'name'>;

export class PostgresAllocations implements Allocations {
  readonly #database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.#database = database;
  }

  async held(pool: string): Promise<string[]> {
    const rows = await this.#ask((connections) => HELD.run(connections, { pool }));
    return rows.map(({ value }) => value);
  }

  async holder(value: PoolValue): Promise<ObjectKey | undefined> {
    const [key] = await this.#ask((connections) => HOLDER.run(connections, value));
    return key;
  }

  async repair(resource: GroupResource, holders: readonly Holder[]): Promise<RepairReport> {
    const { rows } = await this.#ask((connections) =>
      connections.query<RepairRow>({
        text: 'SELECT outcome, pool, value, namespace, name FROM repair_allocations($1, $2, $3)',
        values: [resource.group, resource.resource, encode(holders)],
      }),
    );
    const those = (wanted: string): Allocation[] =>
      rows.filter(({ outcome }) => outcome === wanted).map(toAllocation);
    return { removed: those('removed'), added: those('added'), contested: those('contested') };
  }

  #ask<Result>(question: (connections: Queryable) => Promise<Result>): Promise<Result> {
    return this.#database()
      .then(({ pool }) => question(pool))
      .catch(rethrow);
  }
}

const toAllocation = ({ pool, value, namespace, name }: RepairRow): Allocation => ({
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
