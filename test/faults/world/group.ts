import pg from 'pg';
import { Network } from './network.ts';
import { PostgresNode } from './postgres-node.ts';
import { sleep, until } from './until.ts';

/** What an epoch begins with is above everything that was handed out; where nothing was lost, none begins. */
async function newestBeforeEpoch(node: PostgresNode, before: bigint): Promise<bigint> {
  const [row] = await node.query<{ newest: string | null }>(
    `SELECT max(revision) AS newest FROM revisions
    WHERE revision < coalesce((SELECT min(epoch) FROM epochs WHERE epoch > ${before}), 9223372036854775807)`,
  );
  return BigInt(row?.newest ?? 0);
}

/** Longer than servers take to notice that commits wait for a standby. */
const SETTING_NOTICED_MS = 1500;

export type StandbyRole = 'sync' | 'async';

/** A primary, a standby that it waits for, and one that it does not wait for. Roles move from node to node. */
export class DatabaseGroup implements AsyncDisposable {
  readonly nodes: readonly PostgresNode[];
  primary: PostgresNode;
  readonly standbys = new Map<StandbyRole, PostgresNode>();
  /** Between the primary and the standby of each role. */
  readonly links: ReadonlyMap<StandbyRole, Network>;

  static async start(folder: string): Promise<DatabaseGroup> {
    const nodes = [];
    for (const name of ['a', 'b', 'c']) nodes.push(await PostgresNode.create(name, folder));
    const [primary, sync, async] = nodes;
    if (primary === undefined || sync === undefined || async === undefined)
      throw new Error('there are three');
    await primary.start();
    const links = new Map<StandbyRole, Network>();
    for (const role of ['sync', 'async'] as const) links.set(role, await Network.open(primary.port));
    const group = new DatabaseGroup(nodes, primary, links);
    // What a role may have been given must not weaken what is promised.
    await primary.query('ALTER ROLE CURRENT_USER SET synchronous_commit = off');
    await group.#join('sync', sync);
    await group.#join('async', async);
    await group.waitForSync();
    return group;
  }

  private constructor(
    nodes: readonly PostgresNode[],
    primary: PostgresNode,
    links: ReadonlyMap<StandbyRole, Network>,
  ) {
    this.nodes = nodes;
    this.primary = primary;
    this.links = links;
  }

  link(role: StandbyRole): Network {
    const link = this.links.get(role);
    if (link === undefined) throw new Error(`there is no link of ${role}`);
    return link;
  }

  standby(role: StandbyRole): PostgresNode {
    const node = this.standbys.get(role);
    if (node === undefined) throw new Error(`there is no ${role} standby`);
    return node;
  }

  async #join(role: StandbyRole, node: PostgresNode): Promise<void> {
    await node.copyFrom(this.primary, role, this.link(role).port);
    this.standbys.set(role, node);
    await this.waitForStandby(role);
  }

  /** It has everything that was written when this was asked. */
  async waitForStandby(role: StandbyRole): Promise<void> {
    await until(
      `the ${role} standby follows`,
      async () => {
        const rows = await this.primary.query<{ follows: boolean }>(
          `SELECT state = 'streaming' AND pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) < 100000 AS follows
        FROM pg_stat_replication WHERE application_name = $1`,
          [role],
        );
        return rows.some(({ follows }) => follows);
      },
      60_000,
    );
  }

  /** From now on what is acknowledged is on two disks. */
  async waitForSync(): Promise<void> {
    await this.waitForStandby('sync');
    await this.primary.configure({ synchronous_standby_names: 'sync' });
    await until('commits wait for the standby', async () => {
      const [row] = await this.primary.query<{ state: string }>(
        "SELECT sync_state AS state FROM pg_stat_replication WHERE application_name = 'sync'",
      );
      return row?.state === 'sync';
    });
    // Until servers notice the setting, they show commits that still wait.
    await sleep(SETTING_NOTICED_MS);
  }

  /**
   * The primary dies and a standby takes its place; the others are made anew from it. Answers when there was no primary, and
   * the newest revision that survived.
   */
  async failOver(role: StandbyRole): Promise<{ beganMs: number; doneMs: number; survived: bigint }> {
    const next = this.standby(role);
    const beganMs = performance.now();
    const before = await this.#epoch();
    await this.primary.kill();
    await this.standby(role === 'sync' ? 'async' : 'sync').kill();
    await next.promote();
    const doneMs = performance.now();
    const survived = await newestBeforeEpoch(next, before);
    await this.#follow(next);
    return { beganMs, doneMs, survived };
  }

  /** As a patch of the primary is rolled out: it ends in peace, when its standbys have everything, and one takes its place. */
  async switchOver(): Promise<void> {
    const next = this.standby('sync');
    await this.primary.stop();
    await this.standby('async').stop();
    await next.promote();
    await this.#follow(next);
  }

  /**
   * A standby is promoted while the primary lives, as where what manages the database takes it for dead: both take writes for so
   * long. Then the old primary is killed. Returns the newest revision that survived.
   */
  async promoteBeside(role: StandbyRole, lastsMs: number): Promise<{ beganMs: number; survived: bigint }> {
    const next = this.standby(role);
    const beganMs = performance.now();
    const before = await this.#epoch();
    await next.promote();
    const survived = await newestBeforeEpoch(next, before);
    await sleep(lastsMs);
    await this.primary.kill();
    await this.standby(role === 'sync' ? 'async' : 'sync').kill();
    await this.#follow(next);
    return { beganMs, survived };
  }

  /**
   * The volume of the primary goes back to what it was when this was called, after `meanwhile`: a snapshot, put in its place.
   * Returns when there was no primary, and the newest revision in the snapshot.
   */
  async goBack(
    meanwhile: () => Promise<void>,
  ): Promise<{ beganMs: number; doneMs: number; survived: bigint }> {
    const { primary } = this;
    for (const node of this.standbys.values()) await node.kill();
    // Else it would not take a write without them.
    await primary.configure({ synchronous_standby_names: '' });
    const survived = await this.#killBetweenCommits(primary);
    const snapshot = await primary.snapshot();
    await primary.start();
    await meanwhile();
    const beganMs = performance.now();
    await primary.kill();
    await primary.restore(snapshot);
    await primary.start();
    const doneMs = performance.now();
    await this.#follow(primary);
    return { beganMs, doneMs, survived };
  }

  /** The newest revision of all that it has when it is killed. */
  async #killBetweenCommits(primary: PostgresNode): Promise<bigint> {
    const holder = new pg.Client({ connectionString: primary.url });
    holder.on('error', () => {});
    await holder.connect();
    // Held until the kill: what waits for it is not committed.
    await holder.query('BEGIN; LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE');
    const { rows } = await holder.query<{ newest: string | null }>(
      'SELECT max(revision) AS newest FROM revisions',
    );
    await primary.kill();
    await holder.end().catch(() => {});
    return BigInt(rows[0]?.newest ?? 0);
  }

  /** The newest. */
  async #epoch(): Promise<bigint> {
    const [row] = await this.primary.query<{ epoch: string }>('SELECT max(epoch) AS epoch FROM epochs');
    return BigInt(row?.epoch ?? 0);
  }

  /** The node is the primary from now on; the others are made anew from it. */
  async #follow(next: PostgresNode): Promise<void> {
    const rest = this.nodes.filter((node) => node !== next);
    this.primary = next;
    this.standbys.clear();
    for (const link of this.links.values()) {
      link.heal();
      link.leadTo(next.port);
      link.cut();
    }
    for (const [at, other] of (['sync', 'async'] as const).entries()) {
      const node = rest[at];
      if (node !== undefined) await this.#join(other, node);
    }
    await this.waitForSync();
  }

  /** The standby receives nothing any more, and no connection is closed: what is committed from then on is lost to it. */
  async cutOff(role: StandbyRole): Promise<void> {
    this.link(role).refuse(true);
    this.link(role).cut();
    await sleep(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    for (const link of this.links.values()) await link[Symbol.asyncDispose]();
  }
}
