import type { Queryable } from './prepared.ts';

/** Names sessions of PostgreSQL, given as process ids with commas between, as far as the user may see what they are. */
export async function describeBackends(client: Queryable, pids: string): Promise<string> {
  if (!/^\d+(,\d+)*$/.test(pids)) return 'another transaction';
  const { rows } = await client.query<{ backend: string }>({ text: BACKENDS, values: [pids] });
  return rows.map(({ backend }) => backend).join('; ') || `process ${pids}`;
}

const BACKENDS = `
  SELECT format(
    'process %s (application %s, user %s, %s, its transaction began %s s ago)', a.pid, coalesce(nullif(a.application_name, ''), 'unnamed'),
    a.usename, coalesce(a.state, 'state hidden'), coalesce(round(extract(epoch FROM clock_timestamp() - a.xact_start))::text, '?')
  ) AS backend
  FROM pg_stat_activity a
  WHERE a.pid = ANY (string_to_array($1, ',')::int[])
  ORDER BY a.pid
  LIMIT 5`;
