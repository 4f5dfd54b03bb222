import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { LineWriter } from './line-writer.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

/** Only the server's account may read who did what. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** `-` is standard output; a path that is no regular file (a pipe, a terminal) is never rotated. @throws Error */
export async function openLog(path: string, rotation: Omit<RotationOptions, 'mode'>): Promise<LineWriter> {
  if (path === '-') return new StandardOutput();
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  closeSync(openSync(path, 'a', FILE_MODE));
  if (statSync(path).isFile()) return new RotatingFile(path, { ...rotation, mode: FILE_MODE });
  return new SpecialFile(await open(path, 'a'));
}

class StandardOutput implements LineWriter {
  constructor() {
    // The reader of a pipe may have gone: each write fails on its own, and the server goes on.
    process.stdout.on('error', () => {});
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  async close(): Promise<void> {}
}

class SpecialFile implements LineWriter {
  readonly #file: FileHandle;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  write(text: string): Promise<void> {
    const writing = this.#last.then(() => this.#file.appendFile(text));
    this.#last = writing.catch(() => {});
    return writing;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
