import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

interface FolderOptions {
  /** The mode of new folders. */
  readonly mode?: number;
}

/**
 * Makes a folder and those above it, where they are missing. Node.js' own recursion never ends where the system refuses a folder in
 * one that exists, such as /proc.
 * @throws Error of node:fs; with one line that says where, in such a folder
 */
export function makeFolder(folder: string, options: FolderOptions = {}): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  const parent = dirname(path);
  makeFolder(parent, options);
  try {
    mkdirSync(path, options);
  } catch (error) {
    // Another process may have been faster.
    if (isFolder(path)) return;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error(`${path}: no folder can be made in ${parent}: name another one`, { cause: error });
    throw error;
  }
}

const isFolder = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // A part of the path is a file, or may not be looked at: making the folder says so.
    return false;
  }
};
