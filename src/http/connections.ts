import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** As long as Go's clients keep an idle connection. */
export const IDLE_MS = 90_000;

/** The sockets and HTTP/2 sessions of a listener. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  addSocket(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
  }

  addSession(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    let streams = 0;
    session.on('stream', (stream) => {
      streams += 1;
      stream.once('close', () => {
        streams -= 1;
      });
    });
    // A quiet session is idle only when it has no open stream: watches may be quiet for long.
    session.setTimeout(IDLE_MS, () => {
      if (streams === 0) session.close();
    });
    session.once('close', () => this.#sessions.delete(session));
  }

  /** Resolves when no connection is left, or time is up. */
  async emptied(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (this.#sockets.size > 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Asks HTTP/2 clients to go elsewhere with their next request. */
  goAway(): void {
    for (const session of this.#sessions) if (!session.closed) session.close();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers input that is no HTTP/1.1, where the connection still allows it, and closes the connection. Nothing after such input is
 * read, so that two readers that disagree about the end of a request cannot be played against each other.
 */
export function refuseBrokenInput(error: Error & { code?: string }, socket: Duplex): void {
  if (socket.writable && !isReset(error)) {
    const status = ANSWERS[error.code ?? ''] ?? '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${status}\n`);
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Time for the answer to arrive, before more input from the peer causes a reset. */
const LINGER_MS = 500;

const isReset = ({ code }: { code?: string }): boolean => code === 'ECONNRESET' || code === 'EPIPE';
