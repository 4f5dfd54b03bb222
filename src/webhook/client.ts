import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { RemoteServer } from './kubeconfig.ts';

export interface PostOptions {
  /** For all of it, the answer included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A longer answer is an error. 0: the answer's code is all that is wanted, and the rest is not waited for. */
  readonly maxAnswerBytes: number;
}

export interface Answer {
  readonly code: number;
  readonly body: Buffer;
}

/** What a server that talks on after its code may send before it is cut off. */
const MAX_IDLE_BYTES = 64 * 1024;

const UNAUTHORIZED = 401;

interface Connection {
  readonly server: RemoteServer;
  readonly agent: HttpAgent | HttpsAgent;
}

/**
 * Posts JSON to one server. Connections are kept. After a failure everything is read anew, certificates and tokens too: they
 * may be what was wrong, and have been renewed since.
 */
export class WebhookClient {
  readonly #read: () => Promise<RemoteServer>;
  #connection: Connection | undefined;

  /** `read` must succeed once. @throws Error */
  static async create(read: () => Promise<RemoteServer>): Promise<WebhookClient> {
    return new WebhookClient(read, await read());
  }

  private constructor(read: () => Promise<RemoteServer>, server: RemoteServer) {
    this.#read = read;
    this.#connection = connect(server);
  }

  /** @throws Error for anything but an answer, whatever its code; redirects are answers and not followed */
  async post(body: Buffer, options: PostOptions): Promise<Answer> {
    this.#connection ??= connect(await this.#read());
    const connection = this.#connection;
    try {
      const answer = await exchange(connection, body, options);
      if (answer.code === UNAUTHORIZED) this.#leave(connection);
      return answer;
    } catch (error) {
      this.#leave(connection);
      throw error;
    }
  }

  /** Others may still be waiting for answers on it: sockets end as they become free. */
  #leave({ agent }: Connection): void {
    if (this.#connection?.agent === agent) this.#connection = undefined;
    agent.maxFreeSockets = 0;
    for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  }

  close(): void {
    this.#connection?.agent.destroy();
    this.#connection = undefined;
  }
}

function connect(server: RemoteServer): Connection {
  if (server.url.protocol === 'http:') return { server, agent: new HttpAgent({ keepAlive: true }) };
  const { ca, certificate, key, serverName, insecure } = server;
  const agent = new HttpsAgent({
    keepAlive: true,
    rejectUnauthorized: !insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  });
  return { server, agent };
}

function exchange({ server, agent }: Connection, body: Buffer, options: PostOptions): Promise<Answer> {
  const { url, authorization } = server;
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send(url, {
      method: 'POST',
      agent,
      signal: options.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': body.length,
        'user-agent': 'pg-apiserver',
        ...(authorization === undefined ? {} : { authorization }),
      },
    });
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer within ${options.timeoutMs / 1000}s`)),
      options.timeoutMs,
    );
    request.once('close', () => clearTimeout(timer));
    request.once('response', (response) => readAnswer(request, response, options).then(resolve, reject));
    // Stays: a connection that breaks after its answer is nobody's concern.
    request.on('error', reject);
    request.end(body);
  });
}

function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  { maxAnswerBytes }: PostOptions,
): Promise<Answer> {
  const code = response.statusCode ?? 0;
  const most = maxAnswerBytes === 0 ? MAX_IDLE_BYTES : maxAnswerBytes;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= most) {
        if (maxAnswerBytes > 0) chunks.push(chunk);
        return;
      }
      reject(new Error(`the answer is longer than ${most} bytes`));
      request.destroy();
    });
    response.on('error', reject);
    response.once('end', () => resolve({ code, body: Buffer.concat(chunks) }));
    if (maxAnswerBytes === 0) resolve({ code, body: Buffer.alloc(0) });
  });
}
