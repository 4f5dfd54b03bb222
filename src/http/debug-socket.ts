import { chmodSync, rmSync } from 'node:fs';
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
  rmSync(path, { force: true });
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
