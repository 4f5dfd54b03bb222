import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands before a database, and goes on with no connection once it falls silent, without ending any. */
export async function startSilentProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    fallSilent: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
