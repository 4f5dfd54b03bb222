import { pause } from '../../util/pause.ts';
import type { DatabaseSource } from './connection.ts';
import { isConnectionFailure } from './statements.ts';

const INTERVAL_MS = 5000;
const BATCH_OBJECTS = 500;

/**
 * Ends objects whose time is up (Events, by --event-ttl) the way a client would: a delete revision each, through the same
 * function and lock as every write, so watchers see them go. A head that was renewed meanwhile is refused there, not
 * deleted. Every server runs it; whoever comes second finds nothing.
 */
export class Expirer {
  readonly #database: DatabaseSource;
  readonly #onError: (error: unknown) => void;

  constructor(options: { database: DatabaseSource; onError: (error: unknown) => void }) {
    this.#database = options.database;
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
    const { pool } = await this.#database();
    const { rows } = await pool.query<{ expired: string }>({ text: EXPIRE, values: [BATCH_OBJECTS] });
    return Number(rows[0]?.expired ?? 0);
  }
}

const EXPIRE = `
  WITH due AS MATERIALIZED (
    SELECT h.*, r.object, r.encoded, r.media_type, row_number() OVER () AS ordinal
    FROM (SELECT * FROM heads WHERE expires_at < clock_timestamp() ORDER BY expires_at LIMIT $1) h
    JOIN revisions r ON r.revision = h.revision
  ), batch AS (
    SELECT
      json_agg(json_build_object(
        'ordinal', ordinal, 'verb', 'delete', 'api_group', api_group, 'resource', resource, 'namespace', namespace,
        'name', name, 'uid', uid, 'expected', revision, 'encoded', encoded, 'media_type', media_type,
        'write_id', gen_random_uuid(), 'username', 'system:apiserver', 'user_agent', 'pg-apiserver', 'source_address', '',
        'request_id', '', 'field_manager', 'expiry'
      ) ORDER BY ordinal) AS writes,
      array_agg(object ORDER BY ordinal) AS objects
    FROM due
  )
  SELECT count(c.accepted_revision) AS expired
  FROM batch, commit_revisions(batch.writes, batch.objects) c
  WHERE batch.writes IS NOT NULL`;
