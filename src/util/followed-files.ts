import { readFileSync, statSync } from 'node:fs';
import { errorText } from './error-text.ts';
import { pause } from './pause.ts';

/**
 * How often files are checked. A handful of stat calls find what notifications of the file system miss: files that a volume or
 * an operator replaces by renaming.
 */
const LOOK_EVERY_MS = 1000;

interface FollowedFilesOptions<T> {
  /** Or a function that lists them, for files that come and go. @throws Error */
  readonly paths: readonly string[] | (() => readonly string[]);
  /** Gets the texts in the order of the paths. */
  readonly make: (texts: readonly string[], paths: readonly string[]) => T;
  /** The next check waits until this has settled. Its errors go to onError. */
  readonly onChange?: (made: T) => Promise<void> | void;
  readonly onError?: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * A value made from files, made again when one of them changes. When the new files are wrong, the old value stays and the error
 * is reported once. Certificates are rotated file by file, so a pair that does not match yet is an error that heals by itself.
 */
export class FollowedFiles<T> {
  readonly #options: FollowedFilesOptions<T>;
  #current: T;
  #seen: string;
  #texts: readonly string[];

  /** @throws the first error of reading or `make` */
  constructor(options: FollowedFilesOptions<T>) {
    this.#options = options;
    this.#seen = this.#stamp();
    const paths = this.#paths();
    this.#texts = read(paths);
    this.#current = options.make(this.#texts, paths);
  }

  get current(): T {
    return this.#current;
  }

  /** What the files say, in the order of the paths; also where they are wrong. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { paths, everyMs = LOOK_EVERY_MS } = this.#options;
    if (Array.isArray(paths) && paths.length === 0) return;
    while (!signal.aborted) {
      // On the clock's full seconds: all threads and servers look together, and a thread wakes once for all of its files.
      await pause(everyMs - (Date.now() % everyMs), signal);
      if (!signal.aborted) await this.look();
    }
  }

  /** Checks the files now, and takes them if they changed and are right. Resolves after `onChange` has. Never rejects. */
  async look(): Promise<void> {
    const { make, onChange, onError } = this.#options;
    try {
      const stamp = this.#stamp();
      if (stamp === this.#seen) return;
      this.#seen = stamp;
      const paths = this.#paths();
      const texts = read(paths);
      if (texts.length === this.#texts.length && texts.every((text, at) => text === this.#texts[at])) return;
      this.#texts = texts;
      this.#current = make(texts, paths);
      await onChange?.(this.#current);
    } catch (error) {
      onError?.(error);
    }
  }

  #paths(): readonly string[] {
    const { paths } = this.#options;
    return typeof paths === 'function' ? paths() : paths;
  }

  /** Follows symbolic links, because secrets are mounted and swapped by them. The change time tells when a file became readable. */
  #stamp(): string {
    try {
      return this.#paths().map(stampOf).join();
    } catch (error) {
      return errorText(error);
    }
  }
}

const read = (paths: readonly string[]): string[] => paths.map((path) => readFileSync(path, 'utf8'));

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'none' : `${path} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}
