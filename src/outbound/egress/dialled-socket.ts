import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import type { Dial } from './dial.ts';

/** A Unix socket in a folder that only its user can enter. */
interface DialledSocket {
  readonly path: string;
  /** Connections that there are end. */
  close(): void;
}

/** For libraries that connect by themselves to a path: each connection to it is joined to a dialled one. */
export async function openDialledSocket(dial: Dial, host: string, port: number): Promise<DialledSocket> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-egress-'));
  const path = join(folder, 'socket');
  const open = new Set<Duplex>();
  const server = createServer((near) => {
    open.add(near);
    near.once('close', () => open.delete(near));
    near.on('error', () => {});
    dial(host, port).then(
      (far) => {
        const settle = (): void => {};
        pipeline(near, far, settle);
        pipeline(far, near, settle);
      },
      (error: Error) => near.destroy(error),
    );
  });
  server.listen(path);
  await once(server, 'listening');
  server.unref();
  return {
    path,
    close: () => {
      server.close();
      for (const near of open) near.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
