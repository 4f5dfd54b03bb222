import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from '../observability/logger.ts';

/** The only body that a page takes is a number. */
const MAX_BODY_BYTES = 16;

/**
 * --debug-socket-path: pages without authentication. The mode of the socket's file lets in its owner alone. A socket that a dead
 * server left behind is replaced.
 */
export async function openDebugSocket(
  path: string,
  pages: readonly Hono[],
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const tooLarge = (context: Context): Response => context.text('request entity too large\n', 413);
  const served = new Hono().use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  for (const some of pages) served.route('/', some);
  served.notFound((context) => context.text('404 page not found\n', 404));
  served.onError((error, context) => {
    logger.error('debug socket', error);
    return context.text(`${error.message}\n`, 500);
  });
  const server = createServer(getRequestListener(served.fetch, { overrideGlobalObjects: false }));
  removeDeadSocket(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @throws Error for a file that is no socket, or the socket of another user */
function removeDeadSocket(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new Error(`${path} is there and is no socket: it must be free, or a socket of an ended server`);
  const user = process.getuid?.();
  if (user !== undefined && found.uid !== user)
    throw new Error(`${path} is the socket of another user: it must be free, or a socket of this one`);
  unlinkSync(path);
}
