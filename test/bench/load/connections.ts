import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import type { Protocol, Target } from './jobs.ts';

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How much of the reply's body is wanted as text. The rest is counted. */
  readonly textBytes: number;
}

export interface Reply {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
  /** When the first byte of the body came, on performance.now()'s clock. */
  readonly firstByteAt: number;
}

/** Connections to one server over which requests go; requests with equal `lane` take the same one (HTTP/2). */
export interface Connections {
  send(outgoing: Outgoing, lane: number): Promise<Reply>;
  close(): void;
}

/** Large, so that a window is never what a list waits for. */
const WINDOW_BYTES = 64 * 1024 * 1024;

interface Kept {
  readonly key: string;
  readonly connections: Connections;
}

let kept: Kept | undefined;

/** Those of the job before, when they lead to the same server: handshakes belong to the warm-up. */
export async function connectionsTo(target: Target, protocol: Protocol, count: number): Promise<Connections> {
  const key = `${target.url} ${protocol} ${count}`;
  if (kept?.key === key) return kept.connections;
  kept?.connections.close();
  kept = undefined;
  const connections = protocol === 'h2' ? await openHttp2(target, count) : openHttp1(target, count);
  kept = { key, connections };
  return connections;
}

const authorization = ({ token }: Target): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

export const tlsOf = ({ ca, cert, key }: Target): { ca?: string; cert?: string; key?: string } => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined || key === undefined ? {} : { cert, key }),
});

async function openHttp2(target: Target, count: number): Promise<Connections> {
  const lanes = Array.from({ length: count }, () => new Lane(target));
  await Promise.all(lanes.map((lane) => lane.session()));
  const common = authorization(target);
  return {
    send: (outgoing, number) => {
      const lane = lanes[number % lanes.length];
      if (lane === undefined) throw new Error('there is no connection');
      return lane.send(outgoing, common);
    },
    close: () => {
      for (const lane of lanes) lane.close();
    },
  };
}

/** Lane is a connection as Go's clients have one: another takes the place of one that has ended. */
class Lane {
  readonly #target: Target;
  #session: ClientHttp2Session | undefined;
  #opening: Promise<ClientHttp2Session> | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  session(): ClientHttp2Session | Promise<ClientHttp2Session> {
    if (this.#session?.closed === false) return this.#session;
    this.#opening ??= openSession(this.#target)
      .then((session) => {
        this.#session = session;
        return session;
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  /** Sends a request again that came after the server had announced the end of the connection (GOAWAY). */
  async send(outgoing: Outgoing, common: Readonly<Record<string, string>>): Promise<Reply> {
    for (;;) {
      const session = await this.session();
      try {
        return await sendHttp2(session, outgoing, common);
      } catch (error) {
        if (!session.closed || !isRefused(error)) throw error;
      }
    }
  }

  close(): void {
    this.#session?.destroy();
  }
}

/** The server, or the session after its GOAWAY, has not looked at the request. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.includes('REFUSED_STREAM') || Reflect.get(error, 'code') === 'ERR_HTTP2_GOAWAY_SESSION');

export function openSession(target: Target): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const settings = { enablePush: false, initialWindowSize: WINDOW_BYTES };
    const session = connect(target.url, { ...tlsOf(target), settings });
    session.setMaxListeners(0);
    session.once('error', reject);
    session.once('remoteSettings', () => {
      session.setLocalWindowSize(WINDOW_BYTES);
      // A connection that breaks later fails its requests, which are counted.
      session.on('error', () => {});
      resolve(session);
    });
  });
}

export function sendHttp2(
  session: ClientHttp2Session,
  { method, path, headers, body, textBytes }: Outgoing,
  common: Readonly<Record<string, string>>,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent: OutgoingHttpHeaders = { ':method': method, ':path': path, ...common, ...headers };
    const stream = session.request(sent, { endStream: body === undefined });
    const reply = new ReplyReader(textBytes);
    let status = 0;
    stream.once('response', (received) => {
      status = Number(received[constants.HTTP2_HEADER_STATUS]);
    });
    stream.on('data', (chunk: Buffer) => reply.add(chunk));
    stream.once('end', () => resolve(reply.finish(status)));
    stream.once('error', reject);
    if (body !== undefined) stream.end(body);
  });
}

function openHttp1(target: Target, count: number): Connections {
  const agent = new Agent({ ...tlsOf(target), keepAlive: true, maxSockets: count, scheduling: 'fifo' });
  const { hostname, port } = new URL(target.url);
  const common = authorization(target);
  return {
    send: ({ method, path, headers, body, textBytes }) =>
      new Promise((resolve, reject) => {
        const options = { agent, host: hostname, port, method, path, headers: { ...common, ...headers } };
        const request = httpsRequest(options, (response) => {
          const reply = new ReplyReader(textBytes);
          response.on('data', (chunk: Buffer) => reply.add(chunk));
          response.once('end', () => resolve(reply.finish(response.statusCode ?? 0)));
          response.once('error', reject);
        });
        request.once('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

class ReplyReader {
  readonly #wanted: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #bytes = 0;
  #firstByteAt = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  add(chunk: Buffer): void {
    if (this.#bytes === 0) this.#firstByteAt = performance.now();
    this.#bytes += chunk.length;
    if (this.#kept >= this.#wanted) return;
    this.#chunks.push(chunk);
    this.#kept += chunk.length;
  }

  finish(status: number): Reply {
    const text = this.#kept === 0 ? '' : Buffer.concat(this.#chunks).toString('utf8', 0, this.#wanted);
    return { status, bytes: this.#bytes, text, firstByteAt: this.#firstByteAt };
  }
}
