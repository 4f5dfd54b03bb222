import type pg from 'pg';

/** What PostgreSQL does before it confirms a commit, by synchronous_commit, with standbys to wait for. */
const WITH_STANDBYS: Readonly<Record<string, string>> = {
  remote_apply: 'applied by standbys',
  on: 'on the disks of standbys',
  remote_write: 'received by standbys, and on this disk',
  local: 'on this disk; standbys are not waited for',
};

/**
 * Describes what an acknowledged write has behind it: `on the disks of standbys (synchronous_standby_names = 'a')`. Where
 * synchronous_commit is off, commits of the log act as if it were on (assure_durability).
 */
export async function describeDurability(client: pg.ClientBase): Promise<string> {
  return describeSettings(await readDurability(client));
}

export async function readDurability(client: pg.ClientBase): Promise<DurabilitySettings> {
  const { rows } = await client.query<DurabilitySettings>(`
    SELECT current_setting('synchronous_commit') AS commit, current_setting('synchronous_standby_names') AS standbys,
      current_setting('fsync') AS fsync`);
  const [settings] = rows;
  if (settings === undefined) throw new Error('PostgreSQL does not say how durable commits are');
  return settings;
}

export interface DurabilitySettings {
  /** synchronous_commit */
  readonly commit: string;
  /** synchronous_standby_names */
  readonly standbys: string;
  readonly fsync: string;
}

export function describeSettings({ commit, standbys, fsync }: DurabilitySettings): string {
  if (fsync === 'off')
    return 'in memory alone: fsync is off, and a crash of the machine loses what was acknowledged';
  if (standbys === '') return 'on the disk of one PostgreSQL: no standby is waited for';
  const effective = commit === 'off' ? 'on' : commit;
  return `${WITH_STANDBYS[effective] ?? `confirmed as ${effective}`} (synchronous_standby_names = ${standbys})`;
}
