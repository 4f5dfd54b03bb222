import type { Socket } from 'node:net';
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts';

export interface BlackHole extends DatabaseProxy {
  /** How many connections were made. */
  readonly connections: number;
  /** How many there are. */
  readonly open: number;
  /** From now on every byte is lost, in both directions, of connections old and new, and no connection is closed. */
  swallow(): void;
  /** New connections reach the database again. Old ones have lost bytes, and stay silent. */
  release(): void;
}

/** Stands before a database as a network does that may lose everything without a word. */
export async function startBlackHole(databaseUrl: string): Promise<BlackHole> {
  const clients = new Set<Socket>();
  let isSwallowing = false;
  let lost = new WeakSet<Socket>();
  let connections = 0;
  const proxy = await startDatabaseProxy(databaseUrl, (client, reach) => {
    connections += 1;
    const inner = reach();
    if (isSwallowing) lost.add(client);
    for (const [from, to] of [[client, inner] as const, [inner, client] as const]) {
      from.on('data', (bytes) => lost.has(client) || to.write(bytes));
      from.on('close', () => {
        if (!lost.has(client)) to.destroy();
      });
    }
    clients.add(client);
    client.on('close', () => clients.delete(client));
  });
  return {
    ...proxy,
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
  };
}
