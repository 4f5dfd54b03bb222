import type { Duplex } from 'node:stream';

/** The answer of a verb. Only the http layer knows how to send it. */
export type ApiResponse = BytesResponse | StreamResponse | TunnelResponse;

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A complete answer. The chunks may be shared with other responses and must not be changed. */
export interface BytesResponse {
  readonly kind: 'bytes';
  readonly code: number;
  readonly contentType: string;
  readonly headers?: ResponseHeaders;
  readonly chunks: readonly Buffer[];
  /**
   * The pieces that follow the chunks, made while they are sent, so that a large answer begins at once and is never in memory as
   * a whole. Can be iterated once; a piece is valid only until the next one is requested. An empty piece yields the event loop.
   */
  readonly rest?: Iterable<Buffer>;
  /** Size of the whole body, where it is known beforehand. Only with `rest`. */
  readonly sizeBytes?: number;
  /** The whole body packed by gzip, to send instead of `chunks` and `rest`. Its pieces are like those of `rest`. */
  readonly packed?: () => AsyncIterable<Buffer>;
  /** May be compressed for a client that accepts it (get and list only, as Kubernetes does). */
  readonly compressible: boolean;
}

/** Makes the rest, for callers that need the whole body before it is sent. */
export function gatherRest({ rest, sizeBytes: _, ...response }: BytesResponse): BytesResponse {
  if (rest === undefined) return response;
  const chunks = [...response.chunks];
  for (const piece of rest) chunks.push(Buffer.from(piece));
  return { ...response, chunks };
}

/** An answer that goes on until the request's signal aborts or `run` ends: a watch, a log. */
export interface StreamResponse {
  readonly kind: 'stream';
  readonly code: number;
  /** '' for none. */
  readonly contentType: string;
  readonly headers?: ResponseHeaders;
  /**
   * Called once by the http layer. The head is sent with the first `write` or by `open`; until then a StatusError thrown
   * becomes an ordinary error response.
   */
  run(sink: ResponseSink): Promise<void>;
}

/** The output of a stream's frames. */
export interface ResponseSink {
  /** Sends status and headers now, before any frame. */
  open(): void;
  /** False when the buffer of the connection is full. */
  write(frame: Buffer): boolean;
  /** Call it when a watch has sent its initial events; flow control counts its cost until then. */
  initialized?(): void;
  /** Call it when a streaming list has sent its state, and the bookmark that ends it. */
  listed?(): void;
  /** Resolves when the buffer has drained or the client is gone. */
  drained(): Promise<void>;
}

/** The connection changes to another protocol and belongs to it from then on. Only for requests that ask for an upgrade. */
export interface TunnelResponse {
  readonly kind: 'tunnel';
  readonly code: 101;
  /** Sent unchanged. Absent: `run` answers the upgrade itself. */
  readonly head?: {
    readonly message: string;
    /** Names and values in turn. */
    readonly rawHeaders: readonly string[];
  };
  /** Called once, after the head was sent. Resolves when both sides have ended or the request's signal aborted. */
  run(client: Duplex): Promise<void>;
}
