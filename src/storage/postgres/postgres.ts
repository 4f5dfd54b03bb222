import type { GroupResource } from '../../api/names.ts';
import { inTime } from '../../util/in-time.ts';
import { createReminder } from '../../util/reminder.ts';
import { createKeySealer, type KeySealer } from '../key-sealer.ts';
import { BatchingCommitter } from './commit/committer.ts';
import { Expirer } from './commit/expirer.ts';
import { Condition } from './connection/condition.ts';
import {
  type ConnectionOptions,
  connectWritable,
  type DatabaseSource,
  findReadable,
  toClientConfig,
} from './connection/connection.ts';
import type { Hosts } from './connection/hosts.ts';
import { type PoolState, Pools } from './connection/pools.ts';
import { describeTrouble } from './connection/trouble.ts';
import { CommitBell } from './feed/commit-bell.ts';
import { PostgresFeed } from './feed/feed.ts';
import { keepPublication } from './feed/publication.ts';
import { assertMayReplicate } from './feed/replication-right.ts';
import { PRIMARY, type TailSource } from './feed/tail-source.ts';
import { HostWatch } from './fencing/host-watch.ts';
import { KnownHistory } from './fencing/known-history.ts';
import { PrimaryGuard } from './fencing/primary-guard.ts';
import { Lease } from './fencing/primary-lease.ts';
import { Witness } from './fencing/witness.ts';
import { PostgresObjectViews } from './past/object-views.ts';
import { PostgresHistory } from './past/postgres-history.ts';
import { connectToLoad } from './read/load.ts';
import { COUNT_OBJECTS } from './read/queries.ts';
import { ReadServers, type ReadServersState } from './read/read-servers.ts';
import { PostgresReader } from './read/reader.ts';
import { PostgresAllocations } from './shared/allocations.ts';
import { PostgresMoves } from './shared/moves.ts';
import { PostgresPeers } from './shared/peers.ts';
import { PostgresServerLeases } from './shared/server-leases.ts';
import { PostgresSigningKeys } from './shared/signing-keys.ts';
import { PostgresWorkLeases } from './shared/work-leases.ts';
import { Compactor } from './upkeep/compactor.ts';

interface PostgresOptions extends ConnectionOptions {
  /** postgres:// URLs of standbys, which are preferred for reads of what they have. */
  readonly readUrls?: readonly string[];
  /** 0: never compact here. */
  readonly compactionIntervalMs: number;
  /** One line for the log. */
  readonly onTrouble: (message: string) => void;
  /** This server's clock. */
  readonly now?: () => number;
  /** Within this time every write is answered; by default 30 s. */
  readonly writePatienceMs?: number;
  /** How long a partition was left before it is dropped. */
  readonly settleMs?: number;
  /** For the cluster's own keys; without it, they are stored as they are. */
  readonly sealer?: KeySealer;
  /** File for what this server knows of the log; without it, it vouches for none. */
  readonly witnessFile?: string;
}

interface ObjectCount {
  readonly resource: GroupResource;
  readonly objects: number;
}

/** PostgresLog is the log in PostgreSQL, with the services that keep it: all that the server needs of this folder. */
export interface PostgresLog {
  readonly committer: BatchingCommitter;
  /** Must run while the log is used. */
  readonly guard: PrimaryGuard;
  readonly allocations: PostgresAllocations;
  readonly reader: PostgresReader;
  readonly history: PostgresHistory;
  readonly feed: PostgresFeed;
  readonly compactor: Compactor;
  readonly expirer: Expirer;
  readonly leases: PostgresServerLeases;
  readonly workLeases: PostgresWorkLeases;
  readonly peers: PostgresPeers;
  readonly signingKeys: PostgresSigningKeys;
  readonly views: PostgresObjectViews;
  readonly moves: PostgresMoves;
  /** Connections for all but commits and the stream, now. */
  pool(): PoolState;
  readServers(): ReadServersState;
  /** Since this server was started. */
  epochsBegun(): number;
  /** Counts live objects by resource; takes long when there are many. */
  countObjects(): Promise<readonly ObjectCount[]>;
  /** Size of the whole database on disk. */
  sizeBytes(): Promise<number>;
  /** Resolves when the database answers. @throws what it said instead */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export function openPostgres(given: PostgresOptions): PostgresLog {
  const witness = given.witnessFile === undefined ? undefined : new Witness(given.witnessFile);
  const history = new KnownHistory(witness);
  const watch = new HostWatch(given);
  const { hosts } = watch;
  const lease = new Lease();
  const options = { ...given, history, hosts };
  const { onTrouble, now = Date.now } = options;
  history.onEpoch((epoch) => onTrouble(`history begins anew after revision ${epoch}: see the table epochs`));
  const pools = new Pools(options, new Condition('reads', onTrouble));
  const upkeep = pools.for('upkeep');
  const sources = { fresh: pools.for('fresh'), tail: pools.for('tail'), replay: pools.for('replay') };
  const readServers = new ReadServers({
    urls: given.readUrls ?? [],
    ...{ connection: given, primary: sources.replay, history, onTrouble },
  });
  const loads = { connectToLoad: () => connectToLoad(options), readServers };
  const reader = new PostgresReader({ ...sources, ...loads }, history, lease);
  const committer = new BatchingCommitter(options, {
    ...{ onTrouble, now, lease },
    patienceMs: options.writePatienceMs,
  });
  const remind = createReminder(onTrouble);
  const sealer = given.sealer ?? createKeySealer(undefined);
  const guard = new PrimaryGuard({
    ...{ connection: options, watch, lease, history, witness },
    condition: new Condition('the primary', onTrouble),
    onTrouble: remind,
  });
  const primary = createPrimarySource(options, hosts, {
    assertMay: async () => assertMayReplicate((await sources.tail()).pool),
    check: (client) => keepPublication(client, options.schema, remind),
  });
  return {
    committer,
    guard,
    allocations: new PostgresAllocations(upkeep),
    reader,
    history: new PostgresHistory(sources.replay, reader),
    feed: new PostgresFeed({
      reader,
      sources: { primary, standbys: () => readServers.tailSources() },
      condition: new Condition('the stream of changes', onTrouble),
      ...{ history, schema: options.schema, bell: new CommitBell(options) },
      tell: remind,
    }),
    compactor: new Compactor({
      database: upkeep,
      connect: () => connectWritable(options, 'migrations'),
      schema: options.schema,
      intervalMs: options.compactionIntervalMs,
      onError: (error) => remind(`compaction: ${describeTrouble(error)}`),
      onTrouble,
      now,
      ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
    }),
    expirer: new Expirer({ database: upkeep, condition: new Condition('expiry', onTrouble) }),
    leases: new PostgresServerLeases(upkeep),
    workLeases: new PostgresWorkLeases(upkeep),
    peers: new PostgresPeers(upkeep),
    signingKeys: new PostgresSigningKeys(upkeep, sealer),
    views: new PostgresObjectViews(upkeep, options.schema),
    moves: new PostgresMoves(upkeep, sealer, () => (witness?.isKnown === true ? witness.server : undefined)),
    pool: () => pools.state(),
    readServers: () => readServers.state,
    epochsBegun: () => history.epochsBegun,
    countObjects: () => countObjects(upkeep),
    sizeBytes: () => sizeBytes(upkeep),
    ping: (timeoutMs) => ping(sources.fresh, timeoutMs),
    close: async () => {
      await committer.close();
      await guard.close();
      await readServers.close();
      await pools.close();
    },
  };
}

async function countObjects(database: DatabaseSource): Promise<readonly ObjectCount[]> {
  const { pool } = await database();
  const rows = await COUNT_OBJECTS.run(pool, {});
  return rows.map(({ group, resource, objects }) => ({
    resource: { group, resource },
    objects: Number(objects),
  }));
}

async function sizeBytes(database: DatabaseSource): Promise<number> {
  const { pool } = await database();
  const text = 'SELECT pg_database_size(current_database()) AS bytes';
  return Number((await pool.query<{ bytes: string }>({ text })).rows[0]?.bytes ?? 0);
}

async function ping(database: DatabaseSource, timeoutMs: number): Promise<void> {
  const answer = database().then(({ pool }) => pool.query({ text: 'SELECT 1' }));
  await inTime(answer, timeoutMs, () => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
}

/** The host that takes writes; its stream ends when another one replaces it. */
function createPrimarySource(
  options: ConnectionOptions,
  hosts: Hosts,
  { assertMay, check }: Pick<TailSource, 'check'> & { readonly assertMay: () => Promise<void> },
): TailSource {
  let streaming: string | undefined;
  return {
    name: PRIMARY,
    isStandby: false,
    clientConfig: async () => {
      await assertMay();
      const route = await findReadable(options);
      streaming = route.url;
      return toClientConfig(route, options, 'tail');
    },
    check,
    onReplaced: (listener) =>
      hosts.onFenced((url) => {
        if (url === streaming) listener();
      }),
  };
}
