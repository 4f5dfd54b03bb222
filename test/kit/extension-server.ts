import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ensureCertificates } from '../../src/cli/certificates.ts';

/** An API server behind ours: real TLS, and as badly behaved as a test wants it. */
export interface ExtensionServer extends AsyncDisposable {
  readonly port: number;
  /** Authority of its certificate, in PEM form. */
  readonly ca: string;
  /** Requests so far, without those by which it is found out what it serves. */
  readonly seen: Seen[];
  /** Says before anything else whether it takes part in a request. */
  answer: Answering;
  stop(): Promise<void>;
  /** Again on the same port. */
  start(): Promise<void>;
}

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** The name in the certificate of who called. */
  readonly caller: string;
}

export type Answering = (seen: Seen, response: ServerResponse) => void;

export interface ExtensionWishes {
  /** Names that its certificate is for: `<service>.<namespace>.svc`. */
  readonly names: readonly string[];
  readonly host: string;
  /** Authority of clients that it asks for a certificate. */
  readonly clientCa?: string;
  /** `group/version` → what it says it serves; for paths of discovery that `answer` leaves alone. */
  readonly versions: Readonly<Record<string, readonly object[]>>;
}

export const json = (response: ServerResponse, value: unknown, code = 200): void =>
  void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));

export async function startExtension(wishes: ExtensionWishes): Promise<ExtensionServer> {
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  const { ca, serving } = await ensureCertificates(join(folder, 'certificates'), [], { names: wishes.names });
  const clients =
    wishes.clientCa === undefined
      ? {}
      : { ca: wishes.clientCa, requestCert: true, rejectUnauthorized: false };
  const sockets = new Set<Duplex>();
  let server: Server;
  let port = 0;
  const extension: ExtensionServer = {
    get port() {
      return port;
    },
    ca,
    seen: [],
    answer: (seen, response) => answerDiscovery(wishes.versions, seen, response),
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
    start: async () => {
      server = createServer({ cert: serving.certificate, key: serving.key, ...clients });
      server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
        const seen = await read(request).catch(() => undefined);
        if (seen === undefined) return;
        if (seen.headers['x-remote-user'] !== 'system:kube-aggregator') extension.seen.push(seen);
        extension.answer(seen, response);
      });
      server.on('upgrade', (request: IncomingMessage, socket: Duplex) => echo(request, socket));
      server.on('tlsClientError', () => {});
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(port, wishes.host, resolve));
      ({ port } = server.address() as AddressInfo);
    },
    [Symbol.asyncDispose]: async () => {
      await extension.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await extension.start();
  return extension;
}

async function read(request: IncomingMessage): Promise<Seen> {
  const { method = '', url = '', headers, rawHeaders } = request;
  const socket = request.socket as TLSSocket;
  const caller = String(socket.getPeerCertificate().subject?.CN);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return { method, url, headers, rawHeaders, caller, body: Buffer.concat(chunks).toString() };
}

/** Agrees to any protocol, and says back what it hears, after the name of the caller. */
function echo({ headers }: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {});
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${headers.upgrade}\r\n\r\n`,
  );
  socket.write(`${headers['x-remote-user']}\n`);
  socket.pipe(socket);
}

export function answerDiscovery(
  versions: ExtensionWishes['versions'],
  { url }: Seen,
  response: ServerResponse,
): void {
  const [, groupVersion = ''] = /^\/apis\/([^/]+\/[^/?]+)\/?(?:\?.*)?$/.exec(url) ?? [];
  const resources = versions[groupVersion];
  if (resources === undefined) {
    json(
      response,
      { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
      404,
    );
    return;
  }
  json(response, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
}
