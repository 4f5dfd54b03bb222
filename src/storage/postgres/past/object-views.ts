import { createHash } from 'node:crypto';
import type { GroupResource } from '../../../api/names.ts';
import type { ObjectView, ObjectViews } from '../../object-views.ts';
import { type ClusterSchema, VIEWS_SCHEMA } from '../connection/cluster-schema.ts';
import type { DatabaseSource } from '../connection/connection.ts';

/** Raise it to have the views of older servers made anew. */
const FORM = 1;

const LIST = `
  SELECT DISTINCT substring(obj_description(c.oid, 'pg_class') FROM '^Objects of (\\S+) \\(') AS resource
  FROM pg_class c
  WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'v'`;
const PUT = 'SELECT put_custom_resource_view($1, $2, $3, $4) AS outcome';
const DROP = 'SELECT drop_custom_resource_view($1, $2) AS outcome';

/** Keeps views in the schema crd, or the one of a cluster of several (migrations/0064_baseline/8_custom_resources.sql). */
export class PostgresObjectViews implements ObjectViews {
  readonly #database: DatabaseSource;
  readonly #schema: string;

  constructor(database: DatabaseSource, cluster: ClusterSchema | undefined) {
    this.#database = database;
    this.#schema = cluster?.views ?? VIEWS_SCHEMA;
  }

  async list(): Promise<readonly string[]> {
    const { pool } = await this.#database();
    const { rows } = await pool.query<{ resource: string | null }>({
      text: LIST,
      values: [this.#schema],
    });
    return rows.flatMap(({ resource }) => (resource === null ? [] : [resource]));
  }

  async put({ group, resource, columns }: ObjectView): Promise<'made' | 'nothing' | 'kept'> {
    const text = JSON.stringify(columns);
    const digest = createHash('sha256').update(`${FORM} ${text}`).digest('hex').slice(0, 16);
    const { pool } = await this.#database();
    const values = [group, resource, text, digest];
    const { rows } = await pool.query<{ outcome: 'made' | 'nothing' | 'kept' }>({ text: PUT, values });
    return rows[0]?.outcome ?? 'nothing';
  }

  async drop({ group, resource }: GroupResource): Promise<'dropped' | 'nothing' | 'kept'> {
    const { pool } = await this.#database();
    const { rows } = await pool.query<{ outcome: 'dropped' | 'nothing' | 'kept' }>({
      text: DROP,
      values: [group, resource],
    });
    return rows[0]?.outcome ?? 'nothing';
  }
}
