import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Epoch, LogRow, Promotion } from '../judge/record.ts';
import { Caller } from '../workload/http.ts';
import { NAMESPACE } from '../workload/keys.ts';
import { ApiServer } from './api-server.ts';
import { DatabaseGroup, type StandbyRole } from './group.ts';
import { until } from './until.ts';

export const SERVERS = 2;
/** The one that says how far back history is kept; the other is started without an idea of it. */
const WINDOW_FLAGS = [['--history-window=24h'], []] as const;
const FLAGS = ['--kvstore-compaction-interval=2s', '--authorization-mode=RBAC'];

/** Two servers on one group of databases, with the networks between. */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly group: DatabaseGroup;
  readonly servers: readonly ApiServer[];
  readonly promotions: Omit<Promotion, 'epoch'>[] = [];
  /** While rows of the log were dated wrongly. */
  readonly #archived = new Map<bigint, LogRow>();
  readonly wrongClocks: (readonly [fromMs: number, toMs: number])[] = [];
  /** While there were two primaries. */
  readonly splits: (readonly [fromMs: number, toMs: number])[] = [];

  /** Servers begin as the program of `from`, of an older version, or as the newest. */
  static async start(from: string | undefined): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-faults-'));
    // The account that PostgreSQL runs under when we are root must be able to pass.
    chmodSync(folder, 0o755);
    const group = await DatabaseGroup.start(folder);
    const servers: ApiServer[] = [];
    for (let index = 0; index < SERVERS; index += 1) {
      const flags = [...FLAGS, ...(WINDOW_FLAGS[index] ?? [])];
      const readsStandbys = index === SERVERS - 1;
      const server = await ApiServer.open({ index, folder, nodes: group.nodes, flags, readsStandbys });
      server.main = from ?? server.main;
      servers.push(server);
      await server.start();
    }
    const world = new World(folder, group, servers);
    await world.ready();
    const [caller] = world.callers();
    await caller?.ask({
      ...{ method: 'POST', path: '/api/v1/namespaces', headers: {} },
      body: { metadata: { name: NAMESPACE } },
    });
    return world;
  }

  private constructor(folder: string, group: DatabaseGroup, servers: readonly ApiServer[]) {
    this.folder = folder;
    this.group = group;
    this.servers = servers;
  }

  callers(): Caller[] {
    return this.servers.map((server) => new Caller(server));
  }

  /** Networks between one server and the databases. */
  networksOf(server: ApiServer) {
    return server.databases;
  }

  /** `mayLoseShown` as in {@link Promotion}. */
  async failOver(role: StandbyRole, mayLoseShown = role === 'async'): Promise<void> {
    const { beganMs, doneMs, survived } = await this.group.failOver(role);
    this.promotions.push({ beganMs, doneMs, survived, mayLose: role === 'async', mayLoseShown });
  }

  /** Servers follow a promotion that nothing announces to them within `noticedMs`; until then either primary may answer them. */
  async promoteBeside(role: StandbyRole, options: { lastsMs: number; noticedMs: number }): Promise<void> {
    const { beganMs, survived } = await this.group.promoteBeside(role, options.lastsMs);
    const doneMs = beganMs + options.noticedMs;
    this.splits.push([beganMs, doneMs]);
    const mayLose = role === 'async';
    this.promotions.push({ beganMs, doneMs, survived, mayLose, mayLoseShown: true });
  }

  async goBack(meanwhile: () => Promise<void>): Promise<void> {
    const { beganMs, doneMs, survived } = await this.group.goBack(meanwhile);
    this.promotions.push({ beganMs, doneMs, survived, mayLose: true, mayLoseShown: true });
  }

  /** Everything runs and can reach everything. */
  async heal(): Promise<void> {
    for (const server of this.servers) {
      server.signal('SIGCONT');
      for (const network of [...server.databases, server.front]) network.heal();
    }
    for (const link of this.group.links.values()) link.heal();
    for (const node of this.group.nodes) node.resume();
    for (const server of this.servers) if (!server.isRunning) await server.start();
  }

  /** Both servers say that they are ready. */
  async ready(timeoutMs = 60_000): Promise<void> {
    for (const caller of this.callers()) {
      await until(
        `server ${caller.index} is ready`,
        async () => {
          const { code, text } = await caller.ask({ method: 'GET', path: '/readyz?verbose', headers: {} });
          if (code !== 200) throw new Error(text);
          return true;
        },
        timeoutMs,
      );
      caller.close();
    }
  }

  /** What compaction may remove from the database from now on is still known to have been there. */
  async archive(): Promise<void> {
    for (const row of await this.#rows()) this.#archived.set(row.revision, row);
  }

  /** All rows that were not lost, those that compaction has removed too. */
  async log(): Promise<LogRow[]> {
    const rows = await this.#rows();
    const { revision: compacted } = await this.compaction();
    const [oldest = compacted + 1n] = rows.map(({ revision }) => revision);
    const epochs = await this.epochs();
    const isLost = (revision: bigint): boolean =>
      this.promotionsIn(epochs).some(({ survived, epoch }) => revision > survived && revision < epoch);
    const gone = [...this.#archived.values()].filter(
      ({ revision }) => revision <= compacted && revision < oldest && !isLost(revision),
    );
    return [...gone, ...rows];
  }

  /** With the epoch that each began. Where one lost nothing, what was written until the next goes on from what survived. */
  promotionsIn(epochs: readonly Epoch[]): Promotion[] {
    return this.promotions.map((one, at) => {
      const { survived } = one;
      const epoch = epochs.find(({ after }) => after > survived)?.after ?? survived;
      const next = this.promotions[at + 1]?.survived ?? survived;
      return { ...one, epoch: next > survived && next < epoch ? survived : epoch };
    });
  }

  async #rows(): Promise<LogRow[]> {
    const rows = await this.group.primary.query<RawRow>(
      `SELECT name, revision, verb, user_agent, username, previous_revision, extract(epoch FROM committed_at) * 1000 AS at
      FROM revisions WHERE resource = 'leases' AND namespace = $1 ORDER BY revision`,
      [NAMESPACE],
    );
    return rows.map((row) => ({
      ...{ key: row.name, revision: BigInt(row.revision), op: row.user_agent, verb: row.verb },
      user: row.username,
      previous: row.previous_revision === null ? undefined : BigInt(row.previous_revision),
      committedAtMs: Number(row.at),
    }));
  }

  async epochs(): Promise<Epoch[]> {
    const rows = await this.group.primary.query<{ epoch: string; began_at: Date; reason: string }>(
      'SELECT epoch, began_at, reason FROM epochs WHERE epoch > 0 ORDER BY epoch',
    );
    return rows.map((row) => ({
      ...{ after: BigInt(row.epoch), beganAtMs: row.began_at.getTime(), reason: row.reason },
    }));
  }

  async compaction(): Promise<{ revision: bigint; committedAtMs: number; window: string }> {
    const [row] = await this.group.primary.query<{ revision: string; at: string | null; window: string }>(
      `SELECT revision, extract(epoch FROM nullif(committed_at, '-infinity')) * 1000 AS at, history_window::text AS window
      FROM compaction`,
    );
    const { revision = 0, at = 0, window = 'none' } = row ?? {};
    return { revision: BigInt(revision), committedAtMs: Number(at), window };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers) await server[Symbol.asyncDispose]();
    await this.group[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface RawRow {
  readonly name: string;
  readonly revision: string;
  readonly verb: LogRow['verb'];
  readonly user_agent: string;
  readonly username: string;
  readonly previous_revision: string | null;
  readonly at: string;
}
