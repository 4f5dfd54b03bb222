import { repeat } from '../../../util/pause.ts';
import type { Condition } from '../connection/condition.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { describeTrouble } from '../connection/trouble.ts';
import { OBJECTS_WITH_BYTES } from '../read/queries.ts';

const INTERVAL_MS = 5000;
const BATCH_OBJECTS = 500;

/**
 * Expirer ends objects whose time is up (Events, by --event-ttl) as a client would: with a delete revision each, through the
 * function and lock of every write, so that watchers see it. An object that was renewed meanwhile is refused there, not deleted.
 * Every server runs it; the second finds nothing.
 */
export class Expirer {
  readonly #database: DatabaseSource;
  readonly #condition: Condition;

  constructor(options: { database: DatabaseSource; condition: Condition }) {
    this.#database = options.database;
    this.#condition = options.condition;
  }

  async run(signal: AbortSignal): Promise<void> {
    const onError = (error: unknown): void => this.#condition.failed(describeTrouble(error));
    await repeat(() => this.#expireAll(signal), signal, { everyMs: INTERVAL_MS, onError });
  }

  async #expireAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.expire()) === BATCH_OBJECTS);
    this.#condition.worked();
  }

  /** Ends one batch. Returns how many objects. */
  async expire(): Promise<number> {
    const { pool } = await this.#database();
    const { rows } = await pool.query<{ expired: string }>({ text: EXPIRE, values: [BATCH_OBJECTS] });
    return Number(rows[0]?.expired ?? 0);
  }
}

const EXPIRE = `
  WITH due AS MATERIALIZED (
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, b.object, b.encoded, b.media_type
    FROM ${OBJECTS_WITH_BYTES}
    WHERE o.expires_at < clock_timestamp()
    ORDER BY o.expires_at
    LIMIT $1
  ), batch AS MATERIALIZED (
    SELECT
      array_agg(object) AS objects, array_agg('delete'::text) AS verbs, array_agg(api_group) AS api_groups,
      array_agg(resource) AS resources, array_agg(namespace) AS namespaces, array_agg(name) AS names,
      array_agg(uid) AS uids, array_agg(revision) AS revisions, array_agg(gen_random_uuid()) AS write_ids,
      array_agg(NULL::timestamptz) AS expiries, array_agg('system:apiserver'::text) AS usernames,
      array_agg('pg-apiserver'::text) AS user_agents, array_agg(''::text) AS nothing,
      array_agg('expiry'::text) AS field_managers, array_agg(encoded) AS encodings, array_agg(media_type) AS media_types
    FROM due
    HAVING count(*) > 0
  )
  SELECT cardinality(array_remove(c.accepted, NULL)) AS expired
  FROM batch b, commit_revisions(
    b.objects, b.verbs, b.api_groups, b.resources, b.namespaces, b.names, b.uids, b.revisions, b.write_ids, b.expiries,
    b.usernames, b.user_agents, b.nothing, b.nothing, b.field_managers, NULL, NULL, NULL, b.encodings, b.media_types
  ) c`;
