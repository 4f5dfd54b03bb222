import { type ClientHttp2Session, connect } from 'node:http2';

/** How the administrator reaches the cluster. */
export interface Access {
  readonly url: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** An object as the API shows it; a reset reads its metadata, and puts the rest back as it was. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
    readonly [field: string]: unknown;
  };
  readonly status?: unknown;
  readonly [field: string]: unknown;
}

export interface Answer<Body> {
  readonly code: number;
  readonly body: Body;
}

interface Sent {
  readonly accept?: string;
  readonly type?: string;
  readonly body?: unknown;
}

/** Requests as the administrator, all over one connection. Another takes its place when the server asks for it. */
export class Api implements Disposable {
  readonly #access: Access;
  #current: ClientHttp2Session;

  constructor(access: Access) {
    this.#access = access;
    this.#current = open(access);
  }

  get #session(): ClientHttp2Session {
    if (this.#current.closed) this.#current = open(this.#access);
    return this.#current;
  }

  /** The type of the answer is the caller's claim. @throws Error when no answer comes */
  send<Body>(method: string, path: string, { accept, type, body }: Sent = {}): Promise<Answer<Body>> {
    const stream = this.#session.request(
      {
        ...{ ':method': method, ':path': path, accept: accept ?? 'application/json' },
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      },
      // A DELETE has a body here.
      { endStream: body === undefined },
    );
    return new Promise((resolve, reject) => {
      let code = 0;
      const chunks: Buffer[] = [];
      stream.on('response', (headers) => {
        code = Number(headers[':status']);
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', reject);
      stream.once('end', () => resolve({ code, body: JSON.parse(Buffer.concat(chunks).toString() || '{}') }));
      if (body !== undefined) stream.end(JSON.stringify(body));
    });
  }

  [Symbol.dispose](): void {
    this.#current.close();
  }
}

function open({ url, ca, certificate, key }: Access): ClientHttp2Session {
  // Each request fails with the session.
  return connect(url, { ca, cert: certificate, key }).on('error', () => {});
}
