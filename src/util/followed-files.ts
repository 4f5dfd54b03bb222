import { readFileSync, statSync } from 'node:fs';
import { pause } from './pause.ts';

/**
 * How often files are looked at. A handful of stat calls, which find what notifications of the file system lose: files that a
 * volume or an operator replaces by renaming.
 */
const LOOK_EVERY_MS = 1000;

export interface FollowedFilesOptions<T> {
  readonly paths: readonly string[];
  /** Gets the texts in the order of the paths. */
  readonly make: (texts: readonly string[]) => T;
  /** No other change is looked for until it has settled. What it throws goes to onError. */
  readonly onChange?: (made: T) => Promise<void> | void;
  readonly onError?: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * What is made of some files, made again when one of them changes. Files that have become wrong change nothing: what was
 * made last stays, and the error is told once. Certificates are rotated file by file, so a pair that does not match yet is
 * an error that heals by itself.
 */
export class FollowedFiles<T> {
  readonly #options: FollowedFilesOptions<T>;
  #current: T;
  #seen: string;
  #texts: readonly string[];

  /** @throws what reading or `make` throws at first */
  constructor(options: FollowedFilesOptions<T>) {
    this.#options = options;
    this.#seen = this.#stamp();
    this.#texts = this.#read();
    this.#current = options.make(this.#texts);
  }

  get current(): T {
    return this.#current;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { paths, everyMs = LOOK_EVERY_MS } = this.#options;
    if (paths.length === 0) return;
    while (!signal.aborted) {
      await pause(everyMs, signal);
      if (!signal.aborted) await this.look();
    }
  }

  /** Takes the files as they are now, if they changed and are right: at once. Resolves when `onChange` has. Never rejects. */
  async look(): Promise<void> {
    const { make, onChange, onError } = this.#options;
    try {
      const stamp = this.#stamp();
      if (stamp === this.#seen) return;
      this.#seen = stamp;
      const texts = this.#read();
      if (texts.every((text, at) => text === this.#texts[at])) return;
      this.#texts = texts;
      this.#current = make(texts);
      await onChange?.(this.#current);
    } catch (error) {
      onError?.(error);
    }
  }

  #read(): string[] {
    return this.#options.paths.map((path) => readFileSync(path, 'utf8'));
  }

  /** Follows symbolic links, which is how secrets are mounted and swapped. The second time tells that a file became readable. */
  #stamp(): string {
    return this.#options.paths
      .map((path) => {
        const stat = statSync(path, { throwIfNoEntry: false });
        return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
      })
      .join();
  }
}
