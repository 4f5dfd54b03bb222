import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

/** As long as Go's clients keep an idle connection. */
export const IDLE_MS = 90_000;

/** The sockets and HTTP/2 sessions of a listener, for what concerns them rather than a request. */
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
    // A session on which nothing moves is idle only if nobody waits on it: watches may be quiet for long.
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
