import type { ClientHttp2Session } from 'node:http2';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSession, type Reply, sendHttp2 } from '../load/connections.ts';
import type { Target } from '../load/jobs.ts';
import type { Part } from './jobs.ts';
import { type Asked, Times } from './objectives.ts';

const HEAD_BYTES = 16 * 1024;

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
  readonly #session: ClientHttp2Session;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #doings: Doings;

  /** Acts as the user of the target, or as another. */
  static async connect(target: Target, doings: Doings, user?: User): Promise<Component> {
    return new Component(await openSession(target), doings, user);
  }

  private constructor(session: ClientHttp2Session, doings: Doings, user: User | undefined) {
    this.#session = session;
    this.#doings = doings;
    this.#headers =
      user === undefined ? {} : { 'impersonate-user': user.name, 'impersonate-group': user.group };
  }

  /** Never rejects: what fails is counted. Undefined for a refusal. */
  async send({ asked, path, body, type = 'application/json' }: Sent): Promise<Reply | undefined> {
    const { times } = this.#doings;
    const since = performance.now();
    const method = asked.verb === 'LIST' ? 'GET' : asked.verb;
    try {
      const reply = await sendHttp2(
        this.#session,
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

  /** Resolves when the watch has been answered. `take` gets each line; without it the watch is protobuf, and its bytes are counted. */
  watch(path: string, take?: (line: string) => void): Promise<void> {
    const accept =
      take === undefined ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
    const lines = new Lines(take);
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ':path': path, accept, ...this.#headers });
      stream.once('response', ({ ':status': status }) => {
        if (status === 200) resolve();
        else reject(new Error(`the watch ${path} was answered ${status}`));
      });
      stream.on('data', (chunk: Buffer) => {
        this.#doings.bytes += chunk.length;
        lines.add(chunk);
      });
      stream.once('error', reject);
      stream.once('close', () => (this.#doings.dropped += 1));
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
