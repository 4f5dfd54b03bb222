import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { runOverSpdy, runOverWebSocket } from './exec.ts';
import { SpdyServer, type SpdyStream } from './spdy.ts';

/**
 * A node agent for tests: HTTPS with client certificates, logs, commands that run on this machine, ports that echo. It knows
 * the paths of the real one and nothing of pods.
 */
export interface NodeAgent extends AsyncDisposable {
  readonly port: number;
  /** What was asked, newest last: `GET /containerLogs/a/b/c?follow=true`. */
  readonly requests: string[];
  /** Headers of the newest request. */
  readonly headers: IncomingMessage['headers'];
  /** Connections that stand. */
  readonly connections: number;
  /** Takes connections and says nothing, from now on. */
  silent: boolean;
  /** Lines of logs that are followed. */
  log(line: string): void;
}

export interface AgentOptions {
  readonly certificate: string;
  readonly key: string;
  /** Authority of the certificates that callers must show; without it, all callers are accepted. */
  readonly clientCa?: string;
  readonly host?: string;
}

export async function startAgent(options: AgentOptions): Promise<NodeAgent> {
  const agent = new Agent(options);
  await agent.listen(options.host ?? '127.0.0.1');
  return agent;
}

class Agent implements NodeAgent {
  readonly requests: string[] = [];
  headers: IncomingMessage['headers'] = {};
  silent = false;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #followers = new Set<ServerResponse>();
  readonly #websockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('v5.channel.k8s.io') ? 'v5.channel.k8s.io' : false),
  });

  constructor({ certificate, key, clientCa }: AgentOptions) {
    const trust = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
    this.#server = createServer({ cert: certificate, key, ...trust });
    this.#server.on('request', (incoming, outgoing) => this.#answer(incoming, outgoing));
    this.#server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head));
    this.#server.on('secureConnection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  listen(host: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, host, resolve));
  }

  log(line: string): void {
    for (const follower of this.#followers) follower.write(`${line}\n`);
  }

  #record({ method, url, headers }: IncomingMessage): URL {
    this.requests.push(`${method} ${url}`);
    this.headers = headers;
    return new URL(url ?? '', 'https://agent');
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { pathname, searchParams } = this.#record(incoming);
    if (this.silent) return;
    if (pathname.startsWith('/containerLogs/')) {
      this.#logs(searchParams, outgoing);
      return;
    }
    if (pathname === '/metrics') return void outgoing.end('agent_up 1\n');
    outgoing.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
  }

  #logs(query: URLSearchParams, outgoing: ServerResponse): void {
    if (query.has('previous')) {
      outgoing.writeHead(400).end('previous terminated container "one" in pod "one" not found');
      return;
    }
    outgoing.writeHead(200, { 'content-type': 'text/plain' });
    const lines = ['first', 'second', 'third'];
    outgoing.write(
      lines
        .slice(-Number(query.get('tailLines') ?? 3))
        .map((l) => `${l}\n`)
        .join(''),
    );
    if (query.get('follow') !== 'true') return void outgoing.end();
    this.#followers.add(outgoing);
    outgoing.once('close', () => this.#followers.delete(outgoing));
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { pathname, searchParams } = this.#record(incoming);
    socket.on('error', () => {});
    if (this.silent) return;
    const action = pathname.split('/')[1] ?? '';
    const command = action === 'attach' ? ['cat'] : searchParams.getAll('command');
    if (command[0] === 'refuse') {
      const text = 'container not found ("one")';
      socket.end(`HTTP/1.1 404 Not Found\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
      return;
    }
    if (incoming.headers.upgrade?.toLowerCase() === 'websocket') {
      this.#websockets.handleUpgrade(incoming, socket, head, (client) => runOverWebSocket(client, command));
      return;
    }
    const offered = String(incoming.headers['x-stream-protocol-version'] ?? '').split(', ');
    const protocol = offered.find((one) => /^(v4\.channel|portforward)\.k8s\.io$/.test(one)) ?? '';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    if (head.length > 0) socket.unshift(head);
    if (action === 'portForward') new SpdyServer(socket, echo);
    else runOverSpdy(socket, command, searchParams);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Each port returns its input in capitals. */
function echo(stream: SpdyStream): void {
  if (stream.headers.streamtype !== 'data') {
    stream.end();
    return;
  }
  stream.on('data', (chunk: Buffer) => stream.write(chunk.toString().toUpperCase()));
  stream.once('end', () => stream.end());
}
