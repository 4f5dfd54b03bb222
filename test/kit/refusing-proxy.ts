import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How a connection is refused: hung up, or answered as PostgreSQL answers. */
export type Refusal = 'hang up' | { readonly code: string; readonly message: string };

export interface RefusingProxy extends AsyncDisposable {
  /** The database's URL, with the proxy's address in place of its own. */
  readonly url: string;
  /** How many connections have been refused. */
  readonly refused: number;
}

/** Stands before a database and refuses the first connections, each in its way; later ones reach it. */
export async function startRefusingProxy(
  databaseUrl: string,
  refusals: readonly Refusal[],
): Promise<RefusingProxy> {
  const target = new URL(databaseUrl);
  const left = [...refusals];
  const open = new Set<Socket>();
  let refused = 0;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    const refusal = left.shift();
    if (refusal === undefined) {
      const inner = connect(Number(target.port), target.hostname);
      open.add(inner);
      inner.on('error', () => socket.destroy());
      socket.on('close', () => inner.destroy());
      socket.pipe(inner).pipe(socket);
      return;
    }
    refused += 1;
    if (refusal === 'hang up') socket.destroy();
    else socket.once('data', () => socket.end(errorResponse(refusal)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get refused() {
      return refused;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** PostgreSQL documentation, 53.7: ErrorResponse. */
function errorResponse({ code, message }: Exclude<Refusal, 'hang up'>): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
