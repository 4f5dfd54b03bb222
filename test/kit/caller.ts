import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

export interface CallerAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * A client with a bearer token and one HTTP/2 connection, on which any number of requests go at once. It opens another one when the
 * server asks for it.
 */
export class Caller implements Disposable {
  readonly #open: () => ClientHttp2Session;
  #current: ClientHttp2Session;
  readonly #token: string;

  constructor(cluster: Cluster, token: string) {
    const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'));
    this.#open = () => connect(`https://127.0.0.1:${cluster.port}`, { ca }).on('error', () => {});
    this.#current = this.#open();
    this.#token = token;
  }

  get #session(): ClientHttp2Session {
    if (this.#current.closed || this.#current.destroyed) this.#current = this.#open();
    return this.#current;
  }

  send(method: string, path: string, body?: unknown): Promise<CallerAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        ':method': method,
        ':path': path,
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      });
      let headers: IncomingHttpHeaders = {};
      const chunks: Buffer[] = [];
      stream.on('response', (received) => {
        headers = received;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', reject);
      stream.once('end', () =>
        resolve({ code: Number(headers[':status']), headers, text: Buffer.concat(chunks).toString() }),
      );
      stream.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Begins a watch, and reads its events or none; resolves when the head of the answer is there. */
  watch(path: string, { reads = true } = {}): Promise<{ readonly code: number; stop(): void }> {
    const stream = this.#session.request({ ':path': path, authorization: `Bearer ${this.#token}` });
    stream.on('error', () => {});
    if (reads) stream.resume();
    return new Promise((resolve) => {
      stream.once('response', (headers) =>
        resolve({ code: Number(headers[':status']), stop: () => stream.close() }),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#current.destroy();
  }
}
