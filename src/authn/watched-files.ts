import { readFile } from 'node:fs/promises';
import { pause } from '../util/pause.ts';

/** How long an old version of a file may be believed. */
const EVERY_MS = 2000;

export interface WatchedFilesOptions {
  readonly paths: readonly string[];
  /** The new texts, in the order of the paths. What it throws goes to onError, and the old ones stay. */
  readonly onChange: (texts: readonly string[]) => Promise<void> | void;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * Reads files again and again and tells of changes. Notifications of the file system are not used: files that a volume or an
 * operator replaces by renaming are lost to them.
 */
export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  #texts: readonly string[];

  /** `texts` is what the files held when they were read first. */
  constructor(options: WatchedFilesOptions, texts: readonly string[]) {
    this.#options = options;
    this.#texts = texts;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(this.#options.everyMs ?? EVERY_MS, signal);
      if (signal.aborted) return;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    try {
      const texts = await Promise.all(this.#options.paths.map((path) => readFile(path, 'utf8')));
      if (texts.every((text, at) => text === this.#texts[at])) return;
      // Remembered even when it is wrong, so that a mistake is told once.
      this.#texts = texts;
      await this.#options.onChange(texts);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
