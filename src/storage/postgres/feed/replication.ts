import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import { LogicalReplicationService, PgoutputPlugin } from 'pg-logical-replication';
import { toRevision } from '../../revision.ts';
import { type ClusterSchema, PUBLICATION, searchPath } from '../connection/cluster-schema.ts';
import type { Queryable } from '../connection/prepared.ts';
import { TCP_SETTINGS } from '../connection/session-bounds.ts';
import { type LoggedChange, NO_JSON, toVerb } from '../read/rows.ts';

/**
 * The stream of inserts on `revisions` from one temporary replication slot. Only this file knows pg-logical-replication 2.5, which
 * has no temporary slots, listens late for errors, acknowledges what it received rather than what was applied, does not notice a
 * stream that has gone silent, and does not reconnect. The feed (feed.ts) does the latter.
 */

interface ReplicationHandlers {
  /** The cluster, where the database has several. */
  readonly schema: ClusterSchema | undefined;
  /** Called when connected, and when the slot exists. @throws Error to refuse this host's changes */
  check(client: Queryable): Promise<void>;
  /** Called when the slot exists: commits from now on will be streamed. Streaming begins when this resolves. */
  onSlot(): Promise<void>;
  /** Receives the inserts of one transaction, in order. */
  onChanges(changes: readonly LoggedChange[]): void;
}

/** PostgreSQL sends a keepalive at half of wal_sender_timeout; we ask for one after a longer silence. */
const PING_AFTER_MS = 10_000;
const SILENT_AFTER_MS = 30_000;
/**
 * A PostgreSQL that shuts down waits for its senders, and a sender whose peer stands still or is gone ends by these alone. From
 * version 19 on a shutdown has a time of its own. Our answer may take half of the other, counted from the last answer. A shorter
 * setting stays.
 */
const SENDER_TIMEOUTS = `
  SELECT set_config(name, shortest, false)
  FROM pg_settings
  JOIN (VALUES ('wal_sender_timeout', '5s', 5000), ('wal_sender_shutdown_timeout', '1s', 1000)) wanted (name, shortest, ms)
    USING (name)
  WHERE setting::int > ms OR setting = CASE name WHEN 'wal_sender_timeout' THEN '0' ELSE '-1' END`;
/** A peer that is gone does not answer a goodbye. */
const CLOSE_TIMEOUT_MS = 1000;

interface Insert {
  readonly tag: 'insert';
  readonly new: Readonly<Record<string, Buffer | null>>;
}
type Message =
  | Insert
  | { readonly tag: 'commit'; readonly commitEndLsn: string }
  | { readonly tag: 'begin' | 'relation' | 'type' | 'origin' | 'update' | 'delete' | 'truncate' | 'message' };

/** Reads columns in binary form: json as its text, copied once from the socket's buffer into the change. */
class TemporarySlotPlugin extends PgoutputPlugin {
  readonly #slotName: string;
  readonly #publication: string;
  readonly #handlers: ReplicationHandlers;

  constructor(slotName: string, handlers: ReplicationHandlers) {
    const publication = handlers.schema?.publication ?? PUBLICATION;
    super({ protoVersion: 1, publicationNames: [publication] });
    this.#publication = publication;
    this.#slotName = slotName;
    this.#handlers = handlers;
  }

  override async start(client: pg.Client): Promise<void> {
    const { schema } = this.#handlers;
    if (schema !== undefined) await client.query(searchPath(schema));
    await client.query(TCP_SETTINGS);
    await client.query(SENDER_TIMEOUTS);
    await this.#handlers.check(inText(client));
    await client.query(
      `CREATE_REPLICATION_SLOT "${this.#slotName}" TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`,
    );
    await this.#handlers.check(inText(client));
    await this.#handlers.onSlot();
    const options = `proto_version '1', publication_names '${this.#publication}', binary 'true'`;
    await client.query(`START_REPLICATION SLOT "${this.#slotName}" LOGICAL 0/0 (${options})`);
  }
}

/** A replication connection takes statements as one text. */
const inText = (client: pg.Client): Queryable => ({
  query: <Row extends pg.QueryResultRow>({ text, values = [] }: pg.QueryConfig) =>
    client.query<Row>(text.replace(/\$(\d+)/g, (_, place) => pg.escapeLiteral(String(values[place - 1])))),
});

/**
 * Streams until the signal aborts (resolves) or the stream breaks (rejects).
 * @throws what PostgreSQL or the network said
 */
export async function streamChanges(
  config: pg.ClientConfig,
  handlers: ReplicationHandlers,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const socket = socketOf(config);
  const service = new LogicalReplicationService(
    { ...config, stream: () => socket },
    { acknowledge: { auto: false, timeoutSeconds: 0 }, flowControl: { enabled: false } },
  );
  listenEarly(service);
  const stream = new Stream(service, handlers);
  // Slot names are unique in all databases, and a process may read several.
  const slotName = `pg_apiserver_${process.pid}_${Date.now().toString(36)}_${randomBytes(3).toString('hex')}`;
  let stop = (): void => {};
  // The library's promise may never settle when it is stopped while it connects.
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    const subscription = service.subscribe(new TemporarySlotPlugin(slotName, handlers), slotName);
    await Promise.race([subscription, stream.broken, stopped]);
    if (!signal.aborted) throw new Error('the replication stream ended');
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    stream.close();
    await close(service, socket);
  }
}

/** Returns the stream's own socket, to destroy it when a goodbye is not answered. */
function socketOf({ stream }: pg.ClientConfig): Socket {
  const made = typeof stream === 'function' ? stream() : undefined;
  return made instanceof Socket ? made : new Socket();
}

/**
 * Listens for errors of the client at once; the library does so when it has connected. An error just as the connection is accepted
 * would be unhandled, and end the process; calls on such a client fail by themselves.
 */
function listenEarly(service: LogicalReplicationService): void {
  let current: unknown = null;
  Object.defineProperty(service, '_client', {
    get: () => current,
    set: (client: unknown) => {
      current = client;
      if (client instanceof pg.Client) client.on('error', () => {});
    },
  });
}

async function close(service: LogicalReplicationService, socket: Socket): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
  await service.destroy().catch(() => {});
  clearTimeout(timer);
  socket.destroy();
}

/** Stream collects the inserts of a transaction, hands them on at its commit, acknowledges, and watches for silence. */
class Stream {
  readonly broken: Promise<never>;
  readonly #service: LogicalReplicationService;
  readonly #handlers: ReplicationHandlers;
  #timer: NodeJS.Timeout | undefined;
  #break: (error: unknown) => void = () => {};
  #transaction: LoggedChange[] = [];
  #lastHeardMs = Date.now();

  constructor(service: LogicalReplicationService, handlers: ReplicationHandlers) {
    this.#service = service;
    this.#handlers = handlers;
    this.broken = new Promise((_, reject) => {
      this.#break = reject;
    });
    this.broken.catch(() => {});
    service.on('data', (_lsn: string, message: Message) => this.#onMessage(message));
    service.on('heartbeat', (lsn: string, _time: number, respond: boolean) =>
      this.#onHeartbeat(lsn, respond),
    );
    service.on('error', (error: unknown) => this.#break(error));
    // Making the slot may take as long as the longest transaction; only a begun stream can go silent.
    service.on('start', () => {
      this.#lastHeardMs = Date.now();
      this.#timer = setInterval(() => this.#checkSilence(), PING_AFTER_MS / 2);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Catches exceptions, because the library would leave one from a listener uncaught. */
  #onMessage(message: Message): void {
    this.#lastHeardMs = Date.now();
    try {
      if (message.tag === 'insert') this.#transaction.push(toStreamedChange(message.new));
      else if (message.tag === 'commit') this.#onCommit(message.commitEndLsn);
    } catch (error) {
      this.#break(error);
    }
  }

  #onCommit(endLsn: string): void {
    const changes = this.#transaction;
    this.#transaction = [];
    if (changes.length > 0) this.#handlers.onChanges(changes);
    this.#acknowledged = endLsn;
  }

  #acknowledged = '';

  /** Between transactions everything up to the heartbeat is applied, so the slot may forget it. */
  #onHeartbeat(lsn: string, respond: boolean): void {
    this.#lastHeardMs = Date.now();
    if (this.#transaction.length === 0) this.#acknowledged = lsn;
    if (respond) this.#acknowledge(false);
  }

  #acknowledge(ping: boolean): void {
    if (this.#acknowledged === '') return;
    this.#service.acknowledge(before(this.#acknowledged), ping).catch((error: unknown) => this.#break(error));
  }

  #checkSilence(): void {
    const silentMs = Date.now() - this.#lastHeardMs;
    if (silentMs > SILENT_AFTER_MS)
      this.#break(new Error(`the replication stream was silent for ${silentMs} ms`));
    else this.#acknowledge(silentMs > PING_AFTER_MS);
  }
}

/**
 * Returns the position a byte earlier, to which the library adds one. A server that shuts down waits until the acknowledged
 * position is exactly what it has sent, for as long as that takes.
 *
 *     before('1/0') → '0/ffffffff'
 */
function before(lsn: string): string {
  const [high = '0', low = '0'] = lsn.split('/');
  const position = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) - 1n;
  return `${(position >> 32n).toString(16)}/${(position & 0xffffffffn).toString(16)}`;
}

function toStreamedChange(row: Readonly<Record<string, Buffer | null>>): LoggedChange {
  const text = (column: string): string => row[column]?.toString() ?? '';
  const { previous_revision: previous, follows_revision: follows } = row;
  return {
    key: {
      group: text('api_group'),
      resource: text('resource'),
      namespace: text('namespace'),
      name: text('name'),
    },
    revision: toRevision(row.revision?.readBigInt64BE() ?? 0),
    uid: text('uid'),
    verb: toVerb(text('verb')),
    previous: previous == null ? undefined : toRevision(previous.readBigInt64BE()),
    committedAt: fromPostgresTime(row.committed_at),
    ...toBytes(row),
    writeId: toUuid(row.write_id),
    follows: follows == null ? undefined : toRevision(follows.readBigInt64BE()),
  };
}

/** Reads a binary timestamptz: microseconds since 2000-01-01, exact as a number for centuries, and quicker than a bigint. */
function fromPostgresTime(bytes: Buffer | null | undefined): Date {
  if (bytes == null) return new Date(Number.NaN);
  const microseconds = bytes.readInt32BE() * 2 ** 32 + bytes.readUInt32BE(4);
  return new Date(Math.floor(microseconds / 1000) + Date.UTC(2000, 0, 1));
}

function toUuid(bytes: Buffer | null | undefined): string {
  const hex = bytes?.toString('hex') ?? '';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function toBytes(row: Readonly<Record<string, Buffer | null>>): Pick<LoggedChange, 'json' | 'encoded'> {
  const { object, encoded, media_type: mediaType } = row;
  if (object != null) return { json: copy(object) };
  if (encoded == null || mediaType == null) return { json: NO_JSON };
  return { json: NO_JSON, encoded: { bytes: copy(encoded), mediaType: mediaType.toString() } };
}

function copy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
