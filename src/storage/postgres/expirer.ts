import { pause } from '../../util/pause.ts';
import type { PoolSource } from './reader.ts';
import { isConnectionFailure } from './statements.ts';

const INTERVAL_MS = 5000;
const BATCH_OBJECTS = 500;

/**
 * Ends objects whose time is up (Events, by --event-ttl) the way a client would: a delete revision each, through the same
 * function and lock as every write, so watchers see them go. A head that was renewed meanwhile is refused there, not
 * deleted. Every server runs it; whoever comes second finds nothing.
 */
export class Expirer {
  readonly #pool: PoolSource;
  readonly #onError: (error: unknown) => void;

  constructor(options: { pool: PoolSource; onError: (error: unknown) => void }) {
    this.#pool = options.pool;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        while (!signal.aborted && (await this.expire()) === BATCH_OBJECTS);
      } catch (error) {
        if (!isConnectionFailure(error)) this.#onError(error);
      }
      await pause(INTERVAL_MS, signal);
    }
  }

  /** One batch. Answers how many objects ended. */
  async expire(): Promise<number> {
    const pool = await this.#pool();
    const { rows } = await pool.query<{ expired: string }>({
      name: 'expire',
      text: EXPIRE,
      values: [BATCH_OBJECTS],
    });
    return Number(rows[0]?.expired ?? 0);
  }
}

const EXPIRE = `
  WITH due AS MATERIALIZED (
    SELECT h.*, r.object, row_number() OVER () AS ordinal
    FROM (SELECT * FROM heads WHERE expires_at < clock_timestamp() ORDER BY expires_at LIMIT $1) h
    JOIN revisions r ON r.revision = h.revision
  ), batch AS (
    SELECT json_agg(json_build_object(
      'ordinal', ordinal, 'verb', 'delete', 'api_group', api_group, 'resource', resource, 'namespace', namespace,
      'name', name, 'uid', uid, 'expected', revision, 'object', object, 'write_id', gen_random_uuid(),
      'username', 'system:apiserver', 'user_agent', 'pg-apiserver', 'source_address', '', 'request_id', '',
      'field_manager', 'expiry'
    )) AS writes FROM due
  )
  SELECT count(c.accepted_revision) AS expired FROM batch, commit_revisions(batch.writes) c WHERE batch.writes IS NOT NULL`;
