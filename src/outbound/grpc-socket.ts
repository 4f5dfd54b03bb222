import type { Client, ServiceError } from '@grpc/grpc-js';

/** Reconnects fast, to notice soon that the other program is back. */
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

/** Calls of a gRPC service on a Unix socket; the library reconnects when needed. */
export class GrpcSocket {
  /** A path, or a name in the abstract namespace behind a zero byte. */
  readonly #socket: string;
  #client: Promise<Client> | undefined;

  constructor(socket: string) {
    this.#socket = socket;
  }

  /**
   * `method`: `/v2.KeyManagementService/Status`. A call that waits goes on trying to connect until its time is up.
   * @throws ServiceError
   */
  async call(
    method: string,
    request: Buffer,
    { timeoutMs, waits = false }: { readonly timeoutMs: number; readonly waits?: boolean },
  ): Promise<Buffer> {
    const { Metadata } = await import('@grpc/grpc-js');
    this.#client ??= this.#connect();
    const client = await this.#client;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        request,
        new Metadata({ waitForReady: waits }),
        { deadline: Date.now() + timeoutMs },
        (error: ServiceError | null, answer?: Buffer) => {
          if (error === null && answer !== undefined) resolve(answer);
          else reject(error ?? new Error('no answer'));
        },
      );
    });
  }

  close(): void {
    this.#client?.then((client) => client.close()).catch(() => {});
  }

  /** Loads the library, which servers without such a program do not need. */
  async #connect(): Promise<Client> {
    const { Client, credentials } = await import('@grpc/grpc-js');
    return new Client(`unix:${this.#socket}`, credentials.createInsecure(), CHANNEL);
  }
}
