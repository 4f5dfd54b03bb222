import { readFileSync, statSync } from 'node:fs';
import { pause } from './pause.ts';

/** How often files are looked at. A handful of stat calls: cheaper than what watching costs across file systems. */
const LOOK_EVERY_MS = 1000;

/**
 * What is made of some files, made again when one of them changes. Files that have become wrong change nothing: what was
 * made last stays, and the error is told once. Certificates are rotated file by file, so a pair that does not match yet is
 * an error that heals by itself.
 */
export class FollowedFiles<T> {
  readonly #paths: readonly string[];
  readonly #make: (texts: readonly string[]) => T;
  readonly #onChange: (made: T) => void;
  readonly #onError: (error: unknown) => void;
  #current: T;
  #seen: string;
  #texts: readonly string[];

  /** `make` gets the texts in the order of the paths. @throws what reading or `make` throws at first */
  constructor(options: {
    paths: readonly string[];
    make: (texts: readonly string[]) => T;
    onChange?: (made: T) => void;
    onError: (error: unknown) => void;
  }) {
    this.#paths = options.paths;
    this.#make = options.make;
    this.#onChange = options.onChange ?? (() => {});
    this.#onError = options.onError;
    this.#seen = this.#stamp();
    this.#texts = this.#read();
    this.#current = this.#make(this.#texts);
  }

  get current(): T {
    return this.#current;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#paths.length === 0) return;
    while (!signal.aborted) {
      await pause(LOOK_EVERY_MS, signal);
      if (!signal.aborted) this.look();
    }
  }

  /** Takes the files as they are now, if they changed and are right. */
  look(): void {
    try {
      const stamp = this.#stamp();
      if (stamp === this.#seen) return;
      this.#seen = stamp;
      const texts = this.#read();
      if (texts.every((text, at) => text === this.#texts[at])) return;
      this.#texts = texts;
      this.#current = this.#make(texts);
      this.#onChange(this.#current);
    } catch (error) {
      this.#onError(error);
    }
  }

  #read(): string[] {
    return this.#paths.map((path) => readFileSync(path, 'utf8'));
  }

  /** Follows symbolic links, which is how secrets are mounted and swapped. */
  #stamp(): string {
    return this.#paths
      .map((path) => {
        const stat = statSync(path, { throwIfNoEntry: false });
        return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
      })
      .join();
  }
}
