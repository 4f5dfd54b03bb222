import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What one direction does with bytes. `drop`: they go nowhere, and nobody is told, as in a network that has gone. */
export type Flow = 'pass' | 'drop';

interface Line {
  readonly near: Socket;
  readonly far: Socket;
  /** The far side is not to hear that the near one has gone. */
  isOrphaned: boolean;
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

  /** Each direction by itself: what drops answers alone lets everything happen, and nobody hears of it. */
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
    this.#lines.add(line);
    near.on('error', () => {});
    far.on('error', () => {});
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.on('data', (bytes: Buffer) => this.#send(bytes, far, () => this.#toServer));
    far.on('data', (bytes: Buffer) => this.#send(bytes, near, () => this.#toClient));
    near.on('close', () => {
      if (this.#toServer === 'pass' && !line.isOrphaned) this.#later(() => far.end());
    });
    far.on('close', () => {
      this.#lines.delete(line);
      if (this.#toClient === 'pass') this.#later(() => near.end());
    });
  }

  #send(bytes: Buffer, to: Socket, flow: () => Flow): void {
    if (flow() === 'drop') return;
    this.#later(() => {
      if (!to.destroyed) to.write(bytes);
    });
  }

  /** Timers of one length end in the order they began, and shorter ones would overtake: the delay changes between lines alone. */
  #later(deed: () => void): void {
    if (this.#delayMs === 0) deed();
    else setTimeout(deed, this.#delayMs);
  }
}
