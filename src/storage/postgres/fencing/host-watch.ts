import { inTime } from '../../../util/in-time.ts';
import { pause } from '../../../util/pause.ts';
import { type Connection, type ConnectionOptions, connectToLook } from '../connection/connection.ts';
import { type HostSight, Hosts, lookAt } from '../connection/hosts.ts';

const ROUND_MS = 1000;
/** A host that takes longer counts as silent. */
const LOOK_MS = 1500;

/** HostWatch looks at all hosts again and again, over a connection to each, so that a promoted one fences its predecessor. */
export class HostWatch {
  readonly hosts = new Hosts(() => this.look());
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<string, Connection>();
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: Omit<ConnectionOptions, 'hosts' | 'history'>) {
    this.#options = options;
  }

  /** A single host needs no comparison. */
  get isNeeded(): boolean {
    return this.#options.urls.length > 1;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.isNeeded) {
      await this.look();
      await pause(ROUND_MS, signal);
    }
    await this.close();
  }

  /** Never rejects. Concurrent calls share a round: each host has one connection. */
  look(): Promise<void> {
    if (!this.isNeeded) return Promise.resolve();
    this.#looking ??= this.#lookAtAll().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAtAll(): Promise<void> {
    const sights = await Promise.all(this.#options.urls.map((url) => this.#lookInTime(url)));
    this.hosts.sawAll(sights);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(open.map((connection) => connection.close()));
  }

  async #lookInTime(url: string): Promise<HostSight | undefined> {
    const looked = this.#look(url).catch(() => undefined);
    const sight = await inTime(looked, LOOK_MS, () => undefined);
    if (sight === undefined) {
      const connection = this.#connections.get(url);
      this.#connections.delete(url);
      void connection?.close();
    }
    return sight;
  }

  /** Looks at one host. A late answer still counts. */
  async #look(url: string): Promise<HostSight> {
    const open = this.#connections.get(url);
    const connection = open ?? (await connectToLook(url, this.#options));
    if (this.#isClosed) {
      await connection.close();
      throw new Error('hosts are not looked at any more');
    }
    if (open === undefined) {
      // A round that was late may have opened another.
      void this.#connections.get(url)?.close();
      this.#connections.set(url, connection);
    }
    const sight = await lookAt(connection.client);
    this.hosts.saw(url, sight);
    return sight;
  }
}
