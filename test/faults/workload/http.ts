import { Agent, request } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { ApiServer } from '../world/api-server.ts';

export interface Answer {
  readonly code: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** The connection was not even made: nothing was asked. */
export class NotSent extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'NotSent';
  }
}

/** Longer than a write waits for its database. */
const TIMEOUT_MS = 60_000;

/** One client's connections to one server, as the administrator or by a token. */
export class Caller {
  readonly #server: ApiServer;
  #agent: Agent | undefined;

  constructor(server: ApiServer) {
    this.#server = server;
  }

  get index(): number {
    return this.#server.index;
  }

  /** @throws NotSent; an error of the network, after which the outcome is unknown */
  ask({ method, path, body, headers }: Question, signal?: AbortSignal): Promise<Answer> {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    const isByToken = headers.authorization !== undefined;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          ...{ host: '127.0.0.1', port: this.#server.front.port, method, path, timeout: TIMEOUT_MS },
          agent: this.#agentOf(isByToken),
          headers: {
            'content-type': 'application/json',
            ...(bytes === undefined ? {} : { 'content-length': String(Buffer.byteLength(bytes)) }),
            ...headers,
          },
          ...(signal === undefined ? {} : { signal }),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () =>
            resolve({
              code: response.statusCode ?? 0,
              retryAfter: response.headers['retry-after'],
              text: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      let isMade = false;
      outgoing.once('socket', (socket) => {
        if (!(socket instanceof TLSSocket) || outgoing.reusedSocket) isMade = true;
        else
          socket.once('secureConnect', () => {
            isMade = true;
          });
      });
      outgoing.once('error', (error) => reject(isMade ? error : new NotSent(error)));
      outgoing.end(bytes);
    });
  }

  /** Lines of what is answered with 200, until it ends. Answers the code. @throws what the network said */
  async stream(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<number> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#server.front.port, path, signal };
      const outgoing = request({ ...options, agent: this.#agentOf(false) }, (response) => {
        const { statusCode: code = 0 } = response;
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          if (code !== 200) return;
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          try {
            lines.forEach(onLine);
          } catch (error) {
            outgoing.destroy(error instanceof Error ? error : new Error(String(error)));
          }
        });
        response.once('error', reject);
        response.once('end', () => resolve(code));
        response.once('close', () => reject(new Error('the connection ended')));
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
  }

  #agentOf(isByToken: boolean): Agent {
    if (isByToken) return new Agent({ ca: this.#server.identity.ca });
    this.#agent ??= new Agent({ ...this.#server.identity, keepAlive: true });
    return this.#agent;
  }

  close(): void {
    this.#agent?.destroy();
  }
}
