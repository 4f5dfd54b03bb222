import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StatusError, tooManyRequests } from '../api/status.ts';
import { MAX_DEPTH, tooDeep } from '../object/document-limits.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';

/**
 * Reads YAML from clients in a separate thread. The parser takes 3 ms for a kilobyte of dense YAML, and searches all earlier
 * anchors for each alias, so one document could block all other requests for minutes. A document that exceeds the deadline or
 * the thread's memory is refused, and the thread is ended.
 *
 * One thread is enough: kubectl converts files to JSON.
 */
interface ReadYaml {
  readonly json: string;
  /** Paths of repeated fields. */
  readonly duplicates: readonly string[];
}

/** The answers of the thread. */
export type YamlAnswer =
  | ({ readonly kind: 'read' } & ReadYaml)
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'too-many-values' };

const DEADLINE_MS = 5_000;
/** For the start of the thread, before the deadline begins: on a busy machine it takes seconds. */
const START_MS = 25_000;
/** Each waiting document holds its body in memory. */
const MAX_WAITING = 16;
/** An idle thread is ended after this time, to free its memory. */
const IDLE_MS = 10_000;
const LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 };

interface Job {
  readonly bytes: Buffer;
  resolve(answer: YamlAnswer): void;
  reject(error: unknown): void;
}

class YamlThread {
  readonly #waiting: Job[] = [];
  #job: Job | undefined;
  #worker: Worker | undefined;
  #isReady = false;
  #timer: NodeJS.Timeout | undefined;

  /** @throws StatusError 413, 429 */
  read(bytes: Buffer): Promise<YamlAnswer> {
    if (this.#waiting.length >= MAX_WAITING)
      throw tooManyRequests('too much YAML is waiting to be read; JSON is read at once', 1);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#job !== undefined) return;
    clearTimeout(this.#timer);
    this.#job = this.#waiting.shift();
    if (this.#job === undefined) {
      this.#timer = setTimeout(() => this.#stop(), IDLE_MS).unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#limit(this.#isReady ? DEADLINE_MS : START_MS);
    this.#worker.postMessage(this.#job.bytes);
  }

  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), ms).unref();
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), { resourceLimits: LIMITS });
    worker.unref();
    worker.on('message', (answer: YamlAnswer | 'ready') => {
      if (this.#worker !== worker) return;
      if (answer !== 'ready') {
        this.#end((job) => job.resolve(answer));
        return;
      }
      this.#isReady = true;
      this.#limit(DEADLINE_MS);
    });
    // Any error here means that the thread is out of memory.
    worker.on('error', () => {
      if (this.#worker === worker) this.#giveUp();
    });
    return worker;
  }

  #end(tell: (job: Job) => void): void {
    const job = this.#job;
    this.#job = undefined;
    if (job !== undefined) tell(job);
    this.#next();
  }

  #giveUp(): void {
    this.#stop();
    this.#end((job) => {
      if (nestsTooDeep(job.bytes)) job.resolve({ kind: 'malformed', message: tooDeep().message });
      else job.reject(tooMuch());
    });
  }

  #stop(): void {
    clearTimeout(this.#timer);
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#isReady = false;
  }
}

/** Whether more lists and objects are opened in a row than a document may nest: that takes the parser all memory it has. */
export function nestsTooDeep(bytes: Buffer): boolean {
  let opened = 0;
  // By index: the iterator of a buffer takes fifteen times as long, 70 ms for the largest body.
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) opened += 1;
    else if (byte > SPACE) opened = 0;
    if (opened > MAX_DEPTH) return true;
  }
  return false;
}

const SPACE = 0x20;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

const tooMuch = (): StatusError =>
  new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: YAML that takes more than ${DEADLINE_MS / 1000} s or ${LIMITS.maxOldGenerationSizeMb} MB to read; send it as JSON`,
  });

/** Beside this module, or a bundle of its own beside the bundle that this module is part of. */
function workerFile(): string {
  const here = fileURLToPath(import.meta.url);
  const beside = join(dirname(here), `yaml-thread${extname(here)}`);
  return existsSync(beside) ? beside : join(dirname(here), 'pg-apiserver-yaml-thread.js');
}

const thread = new YamlThread();
/** JSON is parsed here; its document goes to the first caller that asks for it. */
type Answer = YamlAnswer | { readonly kind: 'json'; readonly document: ParsedDocument };
const answers = new WeakMap<Buffer, Answer>();

/** Shorter texts are read in this thread, because starting the other one takes 30 ms. */
const MAX_SHORT_BYTES = 4096;

/**
 * Await this before {@link parseYamlText} gets the same bytes from a client.
 * @throws StatusError 413 when parsing takes too long, 429 when too many documents wait
 */
export async function readYamlAside(bytes: Buffer): Promise<void> {
  const document = parseAsJson(bytes);
  if (document !== undefined) answers.set(bytes, { kind: 'json', document });
  else if (bytes.length > MAX_SHORT_BYTES) answers.set(bytes, await thread.read(bytes));
}

/** The result of {@link readYamlAside} for these bytes; undefined when there is none. */
export function answerFor(bytes: Buffer): Answer | undefined {
  const answer = answers.get(bytes);
  if (answer?.kind === 'json') answers.delete(bytes);
  return answer;
}

/** Programs send JSON as YAML, and reading it as YAML takes ten times as long. @throws StatusError 413 */
export function parseAsJson(bytes: Buffer): ParsedDocument | undefined {
  if (bytes[0] !== OPEN_OBJECT) return undefined;
  try {
    return parseJsonText(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
