import type { Duplex } from 'node:stream';

/** What a verb answers. The http layer alone knows how it gets onto a socket. */
export type ApiResponse = BytesResponse | StreamResponse | TunnelResponse;

export type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>;

/** A complete answer. The chunks may be shared with other responses: nobody may change them. */
export interface BytesResponse {
  readonly kind: 'bytes';
  readonly code: number;
  readonly contentType: string;
  readonly headers?: ResponseHeaders;
  readonly chunks: readonly Buffer[];
  /**
   * What follows them, made while it is sent, so that a large answer begins at once and is never in memory as a whole. A
   * piece is valid only until the next is asked for; it can be gone through once. An empty piece is only there so that others
   * have their turn.
   */
  readonly rest?: Iterable<Buffer>;
  /** Of all there is, where that is known without making it. To be given only with `rest`. */
  readonly sizeBytes?: number;
  /** All of it packed by gzip, to be gone through instead of `chunks` and `rest`; pieces are as those of `rest` are. */
  readonly packed?: () => AsyncIterable<Buffer>;
  /** May be compressed for a client that accepts it (get and list only, as Kubernetes does). */
  readonly compressible: boolean;
}

/** The same with its rest made, for who must see all of it before it is sent. */
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

/** Where the frames of a stream go. */
export interface ResponseSink {
  /** Sends status and headers now, before any frame. */
  open(): void;
  /** False when the buffer of the connection is full. */
  write(frame: Buffer): boolean;
  /** To be called when a watch has sent everything it begins with; whoever counts its cost stops there. */
  initialized?(): void;
  /** Resolves when the buffer has drained or the client is gone. */
  drained(): Promise<void>;
}

/** The connection changes to another protocol and belongs to it from then on. Only for requests that ask for an upgrade. */
export interface TunnelResponse {
  readonly kind: 'tunnel';
  readonly code: 101;
  /** Sent as it is. Absent: what runs the tunnel answers the upgrade itself. */
  readonly head?: {
    readonly message: string;
    /** Names and values in turn. */
    readonly rawHeaders: readonly string[];
  };
  /** Called once, after the head was sent. Resolves when both sides have ended or the request's signal aborted. */
  run(client: Duplex): Promise<void>;
}
