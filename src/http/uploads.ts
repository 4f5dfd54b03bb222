/**
 * Bodies that arrive over HTTP/2 while their requests wait to be let in. Each stream may send as much as its window holds before
 * anybody reads it, and a connection has a thousand streams: what all of them could send together is bounded, by what their
 * requests say that they have to send.
 */
export const WINDOW_BYTES = 256 * 1024;
/** What may wait on one connection: 128 requests that do not say how much they send, or all streams with 32 kB each. */
const MAX_CONNECTION_BYTES = 128 * WINDOW_BYTES;
const MAX_BYTES = 8 * MAX_CONNECTION_BYTES;

export interface WaitingUpload {
  /** Somebody reads it, or nobody ever will. May be called again. */
  end(): void;
}

export class Uploads {
  readonly #waiting = new WeakMap<object, number>();
  #bytes = 0;

  /** Undefined when there is no room for another. `announced`: its content-length. */
  begin(connection: object, announced: string | undefined): WaitingUpload | undefined {
    const most = Math.min(WINDOW_BYTES, toLength(announced));
    const before = this.#waiting.get(connection) ?? 0;
    if (before + most > MAX_CONNECTION_BYTES || this.#bytes + most > MAX_BYTES) return undefined;
    this.#add(connection, most);
    let ended = false;
    return {
      end: () => {
        if (!ended) this.#add(connection, -most);
        ended = true;
      },
    };
  }

  #add(connection: object, bytes: number): void {
    this.#waiting.set(connection, (this.#waiting.get(connection) ?? 0) + bytes);
    this.#bytes += bytes;
  }
}

/** A body that says nothing may fill its window; nghttp2 ends streams that say too little. */
const toLength = (announced: string | undefined): number =>
  announced !== undefined && /^\d{1,15}$/.test(announced) ? Number(announced) : WINDOW_BYTES;
