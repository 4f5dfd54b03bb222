import { Socket } from 'node:net';
import pg from 'pg';
import { ALL_RESOURCES, type ResourceSet } from '../../resource-set.ts';
import type { StoredObject } from '../../revision-log.ts';
import {
  type Connection,
  type ConnectionOptions,
  connectReadable,
  type connectStandby,
} from '../connection/connection.ts';
import { BinaryRows } from './binary-rows.ts';
import { CopySocket, type TakeRow } from './copy-socket.ts';
import { ResourceSlabs } from './slab.ts';

/**
 * Copies all live objects as fast as PostgreSQL gives them: by COPY in its binary format. Rows through a cursor become a string for
 * each column on the way, which for 10,000 pods of 7.7 kB takes three times as long.
 *
 * Objects whose bytes are in the log come last, in the log's order: 100,000 of 5.4 kB take PostgreSQL 0.75 s of CPU, and 0.55 s
 * when they have their bytes. In the order of their keys it would be 1.1 s, and the log read here and there. It is one statement,
 * so that an object whose bytes are filled in meanwhile is not missed.
 */
const copyText = (which: string): string => `
  COPY (
    (
      SELECT api_group, resource, namespace, name, uid, revision, object, encoded, media_type
      FROM objects
      WHERE (object IS NOT NULL OR encoded IS NOT NULL) AND ${which}
      ORDER BY api_group, resource, namespace, name
    )
    UNION ALL
    SELECT o.api_group, o.resource, o.namespace, o.name, o.uid, o.revision, l.object, l.encoded, l.media_type
    FROM (
      SELECT api_group, resource, namespace, name, uid, revision
      FROM objects
      WHERE object IS NULL AND encoded IS NULL AND ${which}
      ORDER BY revision
    ) o
    LEFT JOIN LATERAL (
      SELECT r.object, r.encoded, r.media_type FROM revisions r WHERE r.revision = o.revision LIMIT 1
    ) l ON true
  ) TO STDOUT (FORMAT binary)`;

export interface LoadConnection extends Connection {
  readonly socket: CopySocket;
  /** As in {@link ConnectionOptions}. */
  readonly sharesLoads: boolean;
}

/** Longer than the pauses between rows of a large cluster, or before the first one. */
const SILENT_AFTER_MS = 60_000;

/** Gives the connection up after `silentMs` without a byte. @throws as `connect` */
export async function connectToLoad(
  options: ConnectionOptions,
  silentMs: number = SILENT_AFTER_MS,
  connect: typeof connectStandby = connectReadable,
): Promise<LoadConnection> {
  let socket = new CopySocket();
  const createSocket = (): CopySocket => {
    socket = new CopySocket();
    return socket;
  };
  const connection = await connect(options, 'load', createSocket);
  const { stream } = connection.client.connection;
  const reason = `the connection was silent for ${silentMs} ms while objects were loaded`;
  if (stream instanceof Socket) stream.setTimeout(silentMs, () => stream.destroy(new Error(reason)));
  return { ...connection, socket, sharesLoads: options.sharesLoads === true };
}

/** The transfer of a large cluster takes longer than any other statement may. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Call it inside a transaction. Rejects with what PostgreSQL says, or when the connection breaks. */
export async function copyLive(
  { client, socket, sharesLoads }: LoadConnection,
  batch: (objects: readonly StoredObject[]) => void,
  which: ResourceSet = ALL_RESOURCES,
): Promise<void> {
  // The index has the order; never sort whole objects, even if statistics say that few have their bytes.
  await client.query('SET LOCAL statement_timeout = 0; SET LOCAL enable_sort = off');
  const isPlain = client.connection.stream === socket;
  const slabs = new ResourceSlabs(sharesLoads);
  const rows = new BinaryRows(batch, (resource, bytes, from, to) => slabs.copy(resource, bytes, from, to));
  await new Promise<void>((resolve, reject) => {
    const copy = new CopyOut(copyText(toCondition(which)), {
      onRow: (bytes, from, to) => rows.read(bytes, from, to),
      onEnd: (error) => (error === undefined ? resolve() : reject(error)),
    });
    if (isPlain) socket.divert((bytes, from, to) => copy.take(bytes, from, to));
    client.query(copy);
  }).finally(() => socket.divert(undefined));
  rows.flush();
}

/** COPY takes no values, so the text has them. */
function toCondition({ kind, resources }: ResourceSet): string {
  const listed = resources.map(
    ({ group, resource }) => `(${pg.escapeLiteral(group)}, ${pg.escapeLiteral(resource)})`,
  );
  if (listed.length === 0) return kind === 'only' ? 'false' : 'true';
  return `(api_group, resource) ${kind === 'only' ? 'IN' : 'NOT IN'} (${listed.join(', ')})`;
}

/** CopyOut is a query whose methods `pg` calls. */
class CopyOut implements pg.Submittable {
  readonly query_timeout = NO_TIMEOUT_MS;
  /** `pg` wraps it, and calls it when it gives up on the query by itself. */
  callback: (error?: Error) => void;
  readonly #text: string;
  readonly #onRow: TakeRow;
  #failure: Error | undefined;

  constructor(text: string, on: { onRow: TakeRow; onEnd: (error?: Error) => void }) {
    this.#text = text;
    this.#onRow = on.onRow;
    this.callback = on.onEnd;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  /** After a failure, skips the other rows, so that `pg` finds their end. */
  take(bytes: Buffer, from: number, to: number): void {
    if (this.#failure !== undefined) return;
    try {
      this.#onRow(bytes, from, to);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Takes rows over TLS, which `pg` will overwrite. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.take(chunk, 0, chunk.length);
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure);
  }
}
