import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy extends Disposable {
  /** The database's URL, with the proxy's address in place of its own. */
  readonly url: string;
  /** Every socket that there has been, of both sides. */
  readonly sockets: ReadonlySet<Socket>;
}

/** Decides what becomes of a connection. `reach` opens one to the database. Errors of sockets are ignored. */
export type Join = (near: Socket, reach: () => Socket) => void;

/** Stands before a database, on a port of its own. */
export async function startDatabaseProxy(databaseUrl: string, join: Join): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const known = (socket: Socket): Socket => {
    sockets.add(socket.on('error', () => {}));
    return socket;
  };
  const server = createServer((near) =>
    join(known(near), () => known(connect(Number(target.port), target.hostname))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    sockets,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Each side ends when the other has. */
export function endTogether(one: Socket, other: Socket): void {
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy());
}
