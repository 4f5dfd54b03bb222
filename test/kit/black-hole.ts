import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface BlackHole extends AsyncDisposable {
  /** The database's URL, with the proxy's address in place of its own. */
  readonly url: string;
  /** How many connections were made. */
  readonly connections: number;
  /** How many there are. */
  readonly open: number;
  /** From now on every byte is lost, in both directions, of connections old and new: nobody is told that anything is wrong. */
  swallow(): void;
  /** New connections reach the database again. Old ones have lost bytes, and stay silent. */
  release(): void;
}

/** Stands before a database as a network does that may lose everything without a word. */
export async function startBlackHole(databaseUrl: string): Promise<BlackHole> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const clients = new Set<Socket>();
  let isSwallowing = false;
  let lost = new WeakSet<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const inner = connect(Number(target.port), target.hostname);
    if (isSwallowing) lost.add(client);
    for (const [from, to] of [[client, inner] as const, [inner, client] as const]) {
      open.add(from);
      from.on('error', () => {});
      from.on('data', (bytes) => lost.has(client) || to.write(bytes));
      from.on('close', () => {
        open.delete(from);
        if (!lost.has(client)) to.destroy();
      });
    }
    clients.add(client);
    client.on('close', () => clients.delete(client));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get connections() {
      return connections;
    },
    get open() {
      return clients.size;
    },
    swallow: () => {
      isSwallowing = true;
      lost = new WeakSet(clients);
    },
    release: () => {
      isSwallowing = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
