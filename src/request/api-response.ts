/** What a verb answers. The http layer alone knows how it gets onto a socket. */
export type ApiResponse = BytesResponse | StreamResponse;

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
   * piece is valid only until the next is asked for; it can be gone through once.
   */
  readonly rest?: Iterable<Buffer>;
  /** Of all there is, where that is known without making it. To be given only with `rest`. */
  readonly sizeBytes?: number;
  /** May be compressed for a client that accepts it (get and list only, as Kubernetes does). */
  readonly compressible: boolean;
}

/** An answer that goes on until the request's signal aborts or `run` ends: a watch, a log. */
export interface StreamResponse {
  readonly kind: 'stream';
  readonly code: number;
  readonly contentType: string;
  readonly headers?: ResponseHeaders;
  /**
   * Called once by the http layer. The head is sent with the first `write` or by `open`; until then a StatusError thrown
   * becomes an ordinary error response.
   */
  run(sink: ResponseSink): Promise<void>;
}

/** Sink of a stream. Structurally a storage FrameSink, with the head of the response in addition. */
export interface ResponseSink {
  /** Sends status and headers now, before any frame. */
  open(): void;
  /** False when the buffer of the connection is full. */
  write(frame: Buffer): boolean;
  /** Resolves when the buffer has drained or the client is gone. */
  drained(): Promise<void>;
}
