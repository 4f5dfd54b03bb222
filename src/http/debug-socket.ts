import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Logger } from '../observability/logger.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { IncomingRequest } from './incoming-request.ts';
import { type SendOptions, send } from './send.ts';
import { Throttle } from './throttle.ts';

/** Answers pages about the server; undefined for what it does not know. */
export type Pages = (request: ApiRequest) => Promise<ApiResponse | undefined> | ApiResponse | undefined;

const SENDING: SendOptions = { compresses: false, throttle: new Throttle(0), patienceMs: 60_000 };

/**
 * --debug-socket-path: pages without authentication, for whoever the file's mode lets in: its owner. A socket that a dead
 * server left behind is replaced.
 */
export async function openDebugSocket(
  path: string,
  pages: Pages,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const request = new IncomingRequest(incoming);
      outgoing.once('close', () => request.abort());
      const response = await pages(request);
      if (response === undefined) outgoing.writeHead(404).end('404 page not found\n');
      else await send(SENDING, request, response, outgoing);
    } catch (error) {
      logger.error('debug socket', error);
      outgoing.destroy();
    }
  });
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
