import type pg from 'pg';
import type { Queryable } from '../connection/prepared.ts';
import { TEXT_TYPES } from '../connection/statements.ts';

/** Partitions made, objects given their bytes, states forgotten, partitions left, dropped, indexed and thinned. */
const KINDS = ['make', 'fill', 'forget', 'leave', 'drop', 'index', 'thin'] as const;
export type UpkeepKind = (typeof KINDS)[number];

/** What calls of upkeep took, in all. */
export interface UpkeepCost {
  readonly ms: number;
  /** Pages of 8 kB that were found in PostgreSQL's buffers, that had to be read, and that were changed for the first time since. */
  readonly pagesHit: number;
  readonly pagesRead: number;
  readonly pagesDirtied: number;
  readonly walBytes: number;
  /** Rows of objects and of history that were written, or removed one by one. */
  readonly rows: number;
}

const NOTHING: UpkeepCost = { ms: 0, pagesHit: 0, pagesRead: 0, pagesDirtied: 0, walBytes: 0, rows: 0 };

/** One SELECT over one connection. */
interface UpkeepCall {
  readonly database: Queryable;
  /** A call of a function, as SQL. */
  readonly text: string;
  /** Undefined: as long as any other statement. */
  readonly timeoutMs?: number;
}

interface Explained {
  readonly Plan: Readonly<
    Record<'Shared Hit Blocks' | 'Shared Read Blocks' | 'Shared Dirtied Blocks' | 'WAL Bytes', number>
  >;
}

/** UpkeepCosts makes calls of upkeep, and counts what they cost the database. */
export class UpkeepCosts {
  readonly #of = new Map<UpkeepKind, UpkeepCost>(KINDS.map((kind) => [kind, NOTHING]));

  get of(): ReadonlyMap<UpkeepKind, UpkeepCost> {
    return this.#of;
  }

  /** Returns the function's answer as text; '' for null. @throws what PostgreSQL and the network say */
  async measure(kind: UpkeepKind, call: UpkeepCall): Promise<string> {
    const begunMs = performance.now();
    try {
      const { answer, cost } = await explain(call);
      this.#add(kind, cost);
      return answer;
    } finally {
      this.#add(kind, { ...NOTHING, ms: performance.now() - begunMs });
    }
  }

  #add(kind: UpkeepKind, cost: UpkeepCost): void {
    const so = this.#of.get(kind) ?? NOTHING;
    this.#of.set(kind, {
      ms: so.ms + cost.ms,
      pagesHit: so.pagesHit + cost.pagesHit,
      pagesRead: so.pagesRead + cost.pagesRead,
      pagesDirtied: so.pagesDirtied + cost.pagesDirtied,
      walBytes: so.walBytes + cost.walBytes,
      rows: so.rows + cost.rows,
    });
  }
}

/**
 * EXPLAIN counts the pages of all that a function does, for any user and on any version, and leaves its answer out: a setting of the
 * transaction carries that. Several statements in one message are one transaction, behind a pooler too.
 */
async function explain({ database, text, timeoutMs }: UpkeepCall) {
  const statements = [
    `SELECT set_config('pg_apiserver.rows', (${ROWS})::text, true)`,
    `EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, FORMAT JSON) SELECT set_config('pg_apiserver.answer', (${text})::text, true)`,
    `SELECT current_setting('pg_apiserver.answer') AS answer, (${ROWS}) - current_setting('pg_apiserver.rows')::bigint AS rows`,
  ].join('; ');
  const query = {
    text: statements,
    types: TEXT_TYPES,
    ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }),
  };
  // `pg` answers a list to several statements, which its types do not know.
  const results = (await database.query(query)) as unknown as readonly pg.QueryResult<
    Record<string, string>
  >[];
  const plans: readonly Explained[] = JSON.parse(results[1]?.rows[0]?.['QUERY PLAN'] ?? '[]');
  const plan = plans[0]?.Plan;
  const end = results[2]?.rows[0];
  const cost = {
    ms: 0,
    pagesHit: plan?.['Shared Hit Blocks'] ?? 0,
    pagesRead: plan?.['Shared Read Blocks'] ?? 0,
    pagesDirtied: plan?.['Shared Dirtied Blocks'] ?? 0,
    walBytes: plan?.['WAL Bytes'] ?? 0,
    rows: Math.max(0, Number(end?.rows ?? 0)),
  };
  return { answer: end?.answer ?? '', cost };
}

/** What this session has written so far and not reported yet; PostgreSQL reports between transactions. */
const ROWS = `
  SELECT coalesce(sum(
    pg_stat_get_xact_tuples_inserted(c.oid) + pg_stat_get_xact_tuples_updated(c.oid) + pg_stat_get_xact_tuples_deleted(c.oid)
  ), 0)
  FROM pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = (SELECT o.relnamespace FROM pg_class o WHERE o.oid = 'revisions'::regclass)
    AND (c.relname IN ('objects', 'superseded') OR c.relname LIKE 'revisions\\_%')`;
