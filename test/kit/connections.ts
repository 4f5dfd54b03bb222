import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Cluster } from './cluster.ts';

/** Connections below what an HTTP client would let a test do. */

export function adminTls({ folder }: Cluster): { ca: Buffer; cert: Buffer; key: Buffer } {
  const read = (name: string): Buffer => readFileSync(join(folder, 'certificates', name));
  return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
}

/** A TLS connection of the administrator's. */
export function openTls(cluster: Cluster, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: cluster.port,
      ...adminTls(cluster),
      rejectUnauthorized: false,
      ...options,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends bytes as they are; answers all that came back until the server hung up, or `waitMs` passed because it never will. */
export async function exchange(
  cluster: Cluster,
  text: string | Buffer,
  waitMs = 60_000,
): Promise<{ text: string; closed: boolean }> {
  const socket = await openTls(cluster);
  let received = '';
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish(false), waitMs);
    const finish = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text: received, closed });
    };
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on('error', () => {});
    socket.once('close', () => finish(true));
    socket.write(text);
  });
}

export function openHttp2(cluster: Cluster, asNobody = false): Promise<ClientHttp2Session> {
  const { ca, cert, key } = adminTls(cluster);
  const identity = asNobody ? {} : { cert, key };
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${cluster.port}`, { ca, ...identity });
    session.once('connect', () => resolve(session));
    session.once('error', reject);
    session.on('error', () => {});
  });
}

export interface Http2Answer {
  readonly code: number;
  readonly text: string;
}

export function askHttp2(session: ClientHttp2Session, path: string, method = 'GET'): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream: ClientHttp2Stream = session.request({ ':path': path, ':method': method });
    let code = 0;
    let text = '';
    stream.once('response', (headers) => {
      code = Number(headers[':status']);
    });
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('error', reject);
    stream.once('close', () => resolve({ code, text }));
    stream.end();
  });
}

export const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Until it holds; fails with the last error. */
export async function eventually(check: () => Promise<void> | void, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await later(100);
    }
  }
}
