import type { ClientHttp2Session } from 'node:http2';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSession, type Reply, sendHttp2 } from '../load/connections.ts';
import type { Target } from '../load/jobs.ts';
import type { Part } from './jobs.ts';
import { type Asked, Times } from './objectives.ts';

const HEAD_BYTES = 16 * 1024;
/** How long a component waits before it begins a watch again. */
const AGAIN_MS = 1000;

/** What all components of a process have done. */
export class Doings {
  readonly times = new Times();
  readonly startedMs: number[] = [];
  bytes = 0;
  dropped = 0;
  #cpu = process.cpuUsage();
  #since = performance.now();
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });

  constructor() {
    this.#delay.enable();
  }

  take(): Part {
    const seconds = (performance.now() - this.#since) / 1000;
    const { user, system } = process.cpuUsage(this.#cpu);
    const part = {
      seconds,
      cores: (user + system) / 1e6 / seconds,
      bytes: this.bytes,
      dropped: this.dropped,
      timed: this.times.take(),
      startedMs: this.startedMs.splice(0),
      lateMs: this.#delay.percentile(99) / 1e6 - 10,
    };
    this.bytes = 0;
    this.#delay.reset();
    this.#cpu = process.cpuUsage();
    this.#since = performance.now();
    return part;
  }
}

export interface Sent {
  readonly asked: Asked;
  readonly path: string;
  readonly body?: object;
  /** Of the body; JSON by default. */
  readonly type?: string;
}

/** One component of a cluster: a connection of its own, and the rights of its user. */
export class Component {
  readonly #target: Target;
  #session: Promise<ClientHttp2Session>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #doings: Doings;

  /** Acts as the user of the target, or as another. */
  static async connect(target: Target, doings: Doings, user?: User): Promise<Component> {
    const session = await openSession(target);
    return new Component(target, session, doings, user);
  }

  private constructor(target: Target, session: ClientHttp2Session, doings: Doings, user: User | undefined) {
    this.#target = target;
    this.#session = Promise.resolve(session);
    this.#doings = doings;
    this.#headers =
      user === undefined ? {} : { 'impersonate-user': user.name, 'impersonate-group': user.group };
  }

  /** Servers end connections that have no requests for a while (Kubernetes: after 90 s). Clients then open another. */
  async #connected(): Promise<ClientHttp2Session> {
    const known = this.#session;
    const session = await known;
    if (!session.closed && !session.destroyed) return session;
    if (this.#session === known) this.#session = openSession(this.#target);
    return this.#session;
  }

  /** Never rejects: what fails is counted. Undefined for a refusal. */
  async send({ asked, path, body, type = 'application/json' }: Sent): Promise<Reply | undefined> {
    const { times } = this.#doings;
    const since = performance.now();
    const method = asked.verb === 'LIST' ? 'GET' : asked.verb;
    try {
      const reply = await sendHttp2(
        await this.#connected(),
        {
          method,
          path,
          headers: body === undefined ? {} : { 'content-type': type },
          textBytes: HEAD_BYTES,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        this.#headers,
      );
      times.took(asked, performance.now() - since);
      if (reply.status < 400) return reply;
      times.failed(asked, String(reply.status));
    } catch {
      times.failed(asked, 'connection');
    }
    return undefined;
  }

  /**
   * Resolves when the watch has been answered. It begins again when it ends or is refused, as informers do. `take` gets each line;
   * without it the watch is protobuf, and its bytes are counted.
   */
  async watch(path: string, take?: (line: string) => void): Promise<void> {
    const again = (): void => {
      this.#doings.dropped += 1;
      setTimeout(() => void this.watch(path, take), AGAIN_MS);
    };
    while (!(await this.#watchOnce(path, take, again)))
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }

  /** Returns false for a watch that was refused. `ended` is called when an open one has ended. */
  async #watchOnce(
    path: string,
    take: ((line: string) => void) | undefined,
    ended: () => void,
  ): Promise<boolean> {
    const session = await this.#connected().catch(() => undefined);
    if (session === undefined) return false;
    const accept =
      take === undefined ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
    const lines = new Lines(take);
    return new Promise((resolve) => {
      const stream = session.request({ ':path': path, accept, ...this.#headers });
      let isOpen = false;
      stream.once('response', ({ ':status': status }) => {
        isOpen = status === 200;
        resolve(isOpen);
      });
      stream.on('data', (chunk: Buffer) => {
        this.#doings.bytes += chunk.length;
        if (isOpen) lines.add(chunk);
      });
      stream.on('error', () => {});
      stream.once('close', () => {
        resolve(false);
        if (isOpen) ended();
      });
    });
  }
}

export interface User {
  readonly name: string;
  readonly group: string;
}

/** Cuts what a watch brings into lines. */
class Lines {
  readonly #take: ((line: string) => void) | undefined;
  #begun: Buffer[] = [];

  constructor(take: ((line: string) => void) | undefined) {
    this.#take = take;
  }

  add(chunk: Buffer): void {
    if (this.#take === undefined) return;
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      this.#take(Buffer.concat([...this.#begun, chunk.subarray(from, at)]).toString());
      this.#begun = [];
      from = at + 1;
    }
    if (from < chunk.length) this.#begun.push(Buffer.from(chunk.subarray(from)));
  }
}

/** An event of a watch of pods, as far as components look at it. */
export interface PodEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
    readonly spec?: { readonly nodeName?: string };
    readonly status?: { readonly phase?: string };
  };
}
