import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ensureCertificates } from '../../src/cli/certificates.ts';

export type Respond = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Another server that ours calls: real TLS, and as badly behaved as a test wants it. */
export interface RemoteWebhook extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly ca: string;
  /** Bodies of the requests so far, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  readonly received: any[];
  readonly requests: IncomingMessage[];
  /** What is answered from now on. */
  respond: Respond;
  /** Path of a kubeconfig that leads here. */
  kubeconfig(cluster?: object, user?: object): string;
  stop(): Promise<void>;
  /** Again on the same port. */
  start(): Promise<void>;
}

export const accept: Respond = (_request, response) => void response.writeHead(200).end('{}');

export interface WebhookWishes {
  /** Names that its certificate is for, beside 127.0.0.1. */
  readonly names?: readonly string[];
  readonly host?: string;
  /** Authority of clients whose certificates it asks for; undefined: it asks for none. */
  readonly clientCa?: string;
}

export async function startWebhook({
  names = [],
  host = '127.0.0.1',
  clientCa,
}: WebhookWishes = {}): Promise<RemoteWebhook> {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-'));
  const { ca, serving } = await ensureCertificates(join(folder, 'certificates'), [], { names });
  const clients =
    clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  const pair = { cert: serving.certificate, key: serving.key };
  const sockets = new Set<Duplex>();
  let server: Server;
  let port = 0;
  const webhook: RemoteWebhook = {
    get url() {
      return `https://127.0.0.1:${port}/events`;
    },
    get port() {
      return port;
    },
    ca,
    received: [],
    requests: [],
    respond: accept,
    kubeconfig: (cluster = {}, user = {}) => {
      const path = join(folder, `kubeconfig-${Math.random().toString(36).slice(2)}`);
      const known = { server: webhook.url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
      const file = {
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
        clusters: [{ name: 'k', cluster: { ...known, ...cluster } }],
        users: [{ name: 'u', user }],
      };
      writeFileSync(path, JSON.stringify(file));
      return path;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
    start: async () => {
      server = createServer({ ...pair, ...clients }, (request, response) => {
        webhook.requests.push(request);
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.once('end', () => {
          const body = Buffer.concat(chunks).toString();
          webhook.received.push(JSON.parse(body));
          webhook.respond(request, response, body);
        });
      });
      server.on('tlsClientError', () => {});
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      ({ port } = server.address() as AddressInfo);
    },
    [Symbol.asyncDispose]: async () => {
      await webhook.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await webhook.start();
  return webhook;
}
