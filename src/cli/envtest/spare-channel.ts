import type { Socket } from 'node:net';

/** What stand-ins say to a process that is ready to serve. */
export type ToSpare =
  /** From etcd: the process belongs to this connection from now on, and ends with it. */
  | { readonly say: 'claim' }
  /** From kube-apiserver, with all that its server would have of it. */
  | {
      readonly say: 'serve';
      readonly args: readonly string[];
      readonly folder: string;
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly say: 'stop' };

/** What it answers. */
export type FromSpare =
  | { readonly say: 'claimed'; readonly url: string }
  /** Another server runs in it. */
  | { readonly say: 'busy' }
  | { readonly say: 'wrote'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly say: 'ended' }
  | { readonly say: 'failed'; readonly reason: string; readonly isUsage: boolean };

/** Sends and hears messages, a line of JSON each. Both ends are of one build, as their folder's name says. */
export class SpareChannel<Sent, Heard> {
  readonly #socket: Socket;
  #rest = '';

  constructor(socket: Socket, onMessage: (message: Heard) => void) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      const lines = `${this.#rest}${text}`.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) onMessage(JSON.parse(line));
    });
    // The end of the other process is an end like any other.
    socket.on('error', () => {});
  }

  send(message: Sent, done: () => void = () => {}): void {
    this.#socket.write(`${JSON.stringify(message)}\n`, done);
  }

  /** Resolves when either end has closed it. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.closed) resolve();
      else this.#socket.once('close', () => resolve());
    });
  }

  close(): void {
    this.#socket.end();
  }
}
