import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import type { Dial } from './dial.ts';

/**
 * For callers that need a socket of the system and connect it themselves, such as PostgreSQL's driver: connects the socket to
 * this process, over a path in a folder that only its user can enter, and joins it to the dialled connection. The driver sees
 * its own host and port, so that certificates are verified as usual.
 */
export class SocketRelay {
  readonly #dial: Dial;
  #folder: string | undefined;
  #count = 0;

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  /** Returns the same socket, which is joined when it connects. */
  readonly reroute = <S extends Socket>(socket: S): S => {
    const connect = socket.connect.bind(socket);
    const join = (port: number, host: string): S => {
      this.#join(port, host, socket, (path) => connect({ path })).catch((error: Error) =>
        socket.destroy(error),
      );
      return socket;
    };
    return Object.assign(socket, { connect: join });
  };

  /** Connections that there are stay. */
  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  async #join(port: number, host: string, socket: Socket, connect: (path: string) => unknown): Promise<void> {
    const far = await this.#dial(host, port);
    if (socket.destroyed) {
      far.destroy();
      return;
    }
    this.#folder ??= mkdtempSync(join(tmpdir(), 'pg-apiserver-egress-'));
    this.#count += 1;
    const path = join(this.#folder, String(this.#count));
    const server = createServer((near) => {
      server.close();
      connectBoth(near, far);
    });
    // One that gave up before it came here.
    socket.once('close', () => {
      if (server.listening) far.destroy();
      server.close();
    });
    server.listen(path);
    await once(server, 'listening');
    connect(path);
  }
}

function connectBoth(near: Socket, far: Duplex): void {
  const settle = (): void => {};
  pipeline(near, far, settle);
  pipeline(far, near, settle);
}
