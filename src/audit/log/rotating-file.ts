import { createStream, type RotatingFileStream } from 'rotating-file-stream';
import type { LineWriter } from './line-writer.ts';
import { rotatedName, tidyRotated } from './rotated-files.ts';

export interface RotationOptions {
  /** 0: the file is not rotated. */
  readonly maxSizeMb: number;
  /** Old files to keep, and for how long; 0: no limit. */
  readonly maxBackups: number;
  readonly maxAgeDays: number;
  readonly compress: boolean;
  readonly mode: number;
  /** Old files that cannot be removed or compressed. */
  readonly onTrouble: (error: unknown) => void;
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Files also grow too old on a server that rotates rarely. */
const TIDY_EVERY_MS = 60 * 60 * 1000;

/**
 * A file that is put aside when it is full. Lines that come while others are being written go together in the next write, so
 * that requests which wait for their line share it. Old files are seen to here and not by the stream: it would hold up
 * all writing while it compresses, knows no maximum age, and keeps a list of its files in a file of its own.
 */
export class RotatingFile implements LineWriter {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #timer: NodeJS.Timeout;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #stream: RotatingFileStream | undefined;

  constructor(path: string, options: RotationOptions) {
    this.#path = path;
    this.#options = options;
    this.#timer = setInterval(() => this.#tidy(), TIDY_EVERY_MS).unref();
    this.#tidy();
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    const stream = this.#stream;
    if (stream !== undefined) await new Promise<void>((resolve) => stream.end(() => resolve()));
    await this.#tidying;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#append(batch.map(({ text }) => text).join(''));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Not in a later turn: whoever waited for the last line may write the next one before that.
    this.#writing = undefined;
  }

  #append(text: string): Promise<void> {
    this.#stream ??= this.#open();
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      stream.write(text, (error) => {
        if (error == null) {
          resolve();
          return;
        }
        // A stream that failed once stays failed (a full disk): the next line tries a new one.
        this.#stream = undefined;
        reject(error);
      });
    });
  }

  #open(): RotatingFileStream {
    const { maxSizeMb, mode } = this.#options;
    const name = (time: number | Date | null, index = 1): string =>
      time === null ? this.#path : rotatedName(this.#path, new Date(Number(time) + index - 1));
    const stream = createStream(name, { mode, ...(maxSizeMb === 0 ? {} : { size: `${maxSizeMb}M` }) });
    stream.on('error', () => {});
    stream.on('rotated', () => this.#tidy());
    return stream;
  }

  #tidy(): void {
    const { onTrouble, ...limits } = this.#options;
    this.#tidying = this.#tidying
      .then(() => tidyRotated(this.#path, { ...limits, now: Date.now() }))
      .catch(onTrouble);
  }
}
