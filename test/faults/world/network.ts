import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { sleep } from './until.ts';

/** What one direction does with bytes. `drop`: they are lost, and no connection is closed, as in a network that has gone. */
export type Flow = 'pass' | 'drop';

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  /** The far side is not to hear that the near one has gone. */
  isOrphaned: boolean;
}

/** One direction of a line. Bytes keep their order, with every change of the delay. */
class Lane {
  #last: Promise<void> = Promise.resolve();
  #pending = 0;

  send(delayMs: number, deed: () => void): void {
    if (delayMs === 0 && this.#pending === 0) {
      deed();
      return;
    }
    this.#pending += 1;
    const before = this.#last;
    this.#last = sleep(delayMs)
      .then(() => before)
      .then(() => {
        this.#pending -= 1;
        deed();
      });
  }
}

/** A network between clients and one server, on a port of its own, which can be made to fail in the ways that networks do. */
export class Network implements AsyncDisposable {
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #target: number;
  #toServer: Flow = 'pass';
  #toClient: Flow = 'pass';
  #delayMs = 0;
  #isClosed = false;

  static async open(target: number): Promise<Network> {
    const network = new Network(target);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((near) => this.#join(near));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections go there. */
  leadTo(port: number): void {
    this.#target = port;
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Each direction by itself: a line that drops answers alone lets everything happen, without a sign to the client. */
  flow(toServer: Flow, toClient: Flow): void {
    this.#toServer = toServer;
    this.#toClient = toClient;
  }

  /** New connections are hung up on. */
  refuse(isClosed: boolean): void {
    this.#isClosed = isClosed;
  }

  /** Ends the connections there are: for both sides, or for one of which the other hears nothing. */
  cut(side: 'both' | 'near' = 'both'): void {
    for (const line of this.#lines) {
      line.isOrphaned = side === 'near';
      line.near.destroy();
      if (side === 'both') line.far.destroy();
    }
  }

  /** All faults end. What was dropped stays lost, so connections that lost something end. */
  heal(): void {
    const hasLost = this.#toServer === 'drop' || this.#toClient === 'drop';
    this.flow('pass', 'pass');
    this.delay(0);
    this.refuse(false);
    if (hasLost) this.cut();
    for (const { near, far } of this.#lines) if (near.destroyed) far.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket): void {
    if (this.#isClosed) {
      near.destroy();
      return;
    }
    const far = connect(this.#target, '127.0.0.1');
    const line: Line = { near, far, isOrphaned: false };
    const [toServer, toClient] = [new Lane(), new Lane()];
    this.#lines.add(line);
    near.on('error', () => {});
    far.on('error', () => {});
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.on('data', (bytes: Buffer) => {
      if (this.#toServer === 'pass') toServer.send(this.#delayMs, () => write(far, bytes));
    });
    far.on('data', (bytes: Buffer) => {
      if (this.#toClient === 'pass') toClient.send(this.#delayMs, () => write(near, bytes));
    });
    near.on('close', () => {
      if (this.#toServer === 'pass' && !line.isOrphaned) toServer.send(this.#delayMs, () => far.end());
    });
    far.on('close', () => {
      this.#lines.delete(line);
      if (this.#toClient === 'pass') toClient.send(this.#delayMs, () => near.end());
    });
  }
}

function write(to: Socket, bytes: Buffer): void {
  if (!to.destroyed && to.writable) to.write(bytes);
}
