import { startDatabaseProxy } from '../../kit/database-proxy.ts';

/** Stands before a database, and goes on with no connection once it falls silent, without ending any. */
export async function startSilentProxy(databaseUrl: string) {
  const proxy = await startDatabaseProxy(databaseUrl, (near, reach) => {
    near.pipe(reach()).pipe(near);
  });
  return {
    ...proxy,
    fallSilent: () => {
      for (const socket of proxy.sockets) socket.unpipe().pause();
    },
  };
}
