import type { Seen, WatchEnd, WatchSession } from '../judge/record.ts';
import type { Random } from '../random.ts';
import { sleep } from '../world/until.ts';
import type { Caller } from './http.ts';
import { pathOf, type WatchSource } from './sources.ts';

const RETRY_MS = 100;

interface Session extends Omit<WatchSession, 'seen' | 'end' | 'endedMs'> {
  readonly seen: Seen[];
  end: WatchEnd;
  endedMs: number;
}

/** Lists, then watches from there, and from the newest thing it received whenever the watch ends: what reflectors do. */
export class Watcher {
  readonly sessions: Session[] = [];
  readonly name: string;
  readonly #callers: readonly Caller[];
  readonly #random: Random;
  readonly #seconds: readonly [from: number, to: number];
  readonly #source: WatchSource;
  #position: bigint | undefined;

  /** `seconds`: how long a watch lasts. One that never ends by itself shows whether it is ended when it must be. */
  constructor(options: {
    name: string;
    callers: readonly Caller[];
    random: Random;
    seconds: readonly [from: number, to: number];
    source: WatchSource;
  }) {
    this.name = options.name;
    this.#callers = options.callers;
    this.#random = options.random;
    this.#seconds = options.seconds;
    this.#source = options.source;
  }

  get position(): bigint {
    return this.sessions.at(-1)?.seen.at(-1)?.revision ?? this.#position ?? 0n;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const caller = this.#random.pick(this.#callers);
      try {
        this.#position ??= await newest(caller, this.#source, signal);
        await this.#watch(caller, this.#position, signal);
      } catch {
        await sleep(RETRY_MS);
      }
    }
  }

  async #watch(caller: Caller, from: bigint, signal: AbortSignal): Promise<void> {
    const session: Session = {
      ...{ watcher: this.name, filter: this.#source.filter, server: caller.index },
      ...{ from, openedMs: performance.now() },
      ...{ seen: [], end: 'failed', endedMs: 0 },
    };
    this.sessions.push(session);
    const seconds = this.#random.between(...this.#seconds);
    const query = {
      ...{ watch: '1', allowWatchBookmarks: 'true' },
      ...{ timeoutSeconds: String(seconds), resourceVersion: String(from) },
    };
    const read = (line: string): void => {
      const seen = toSeen(line, this.#source);
      if (seen === 'gone') session.end = 'gone';
      else if (seen === 'failed') session.end = 'failed';
      else {
        session.seen.push(seen);
        this.#position = seen.revision;
      }
    };
    try {
      const code = await caller.stream(pathOf(this.#source, query), read, signal);
      if (code === 410) session.end = 'gone';
      else if (code === 200 && session.end !== 'gone') session.end = 'closed';
      else if (code !== 200) await sleep(RETRY_MS);
    } catch (error) {
      session.end = signal.aborted ? 'stopped' : session.end;
      throw error;
    } finally {
      session.endedMs = performance.now();
      if (session.end === 'gone') this.#position = undefined;
    }
  }
}

async function newest(caller: Caller, source: WatchSource, signal: AbortSignal): Promise<bigint> {
  const path = pathOf(source, source.firstList);
  const { code, text } = await caller.ask({ method: 'GET', path, headers: {} }, signal);
  if (code !== 200) throw new Error(`the list was answered with ${code}`);
  return BigInt(JSON.parse(text).metadata.resourceVersion);
}

function toSeen(line: string, source: WatchSource): Seen | 'gone' | 'failed' {
  const { type, object } = JSON.parse(line);
  const atMs = performance.now();
  if (type === 'ERROR') return object.code === 410 ? 'gone' : 'failed';
  if (type === 'BOOKMARK')
    return { type: 'bookmark', revision: BigInt(object.metadata.resourceVersion), atMs };
  return { ...source.read(type, object), atMs };
}
