import type { WriteVerb } from '../../../src/storage/revision-log.ts';
import type { Bench, Figures } from '../bench.ts';
import type { RowTemplate } from '../limit/rows.ts';
import { withLimit } from '../measure-requests.ts';

export interface WrittenRows {
  readonly template: RowTemplate;
  readonly verb: WriteVerb;
  readonly clients: number;
  /** When the first of them was written. */
  readonly since: Date;
}

const MAX_BATCH = 512;

/** Adds the limit: the same rows through commit_revisions alone, in batches as large as the server's were. */
export async function withRowsLimit(bench: Bench, figures: Figures, rows: WrittenRows): Promise<Figures> {
  const batch = await averageBatch(bench, rows);
  const { template, verb } = rows;
  const durationMs = bench.scale(1500, 500);
  const limit = await bench.limits.rows({ template, verb, batch, durationMs });
  const limited = withLimit(figures, `commit_revisions in batches of ${batch}`, limit);
  return { ...limited, facts: { ...limited.facts, batch } };
}

/** Rows of one batch share their moment. Of a server whose log cannot be read, every client is thought to be in a batch. */
async function averageBatch(
  { environment }: Bench,
  { clients, since, template }: WrittenRows,
): Promise<number> {
  const rows = await environment.own?.query<{ batch: number | null }>(
    `SELECT count(*)::float / nullif(count(DISTINCT committed_at), 0) AS batch
     FROM revisions WHERE committed_at > $1 AND resource = $2`,
    [since, template.kind],
  );
  const batch = rows?.[0]?.batch ?? clients;
  return Math.max(1, Math.min(MAX_BATCH, Math.round(batch)));
}
