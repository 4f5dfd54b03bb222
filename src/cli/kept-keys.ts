import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Both are PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Returns the key of this name that all servers of the cluster share. Makes one when it is missing or no longer fits. */
export type KeepKey = (name: string, wishes: KeyWishes) => Promise<KeyPair>;

interface KeyWishes {
  fits(pair: KeyPair): boolean;
  make(): Promise<KeyPair>;
}

/** For a folder without a cluster: makes the key for the folder alone. */
export const keepHere: KeepKey = (_name, { make }) => make();

const certificateOf = (folder: string, name: string): string => join(folder, `${name}.crt`);
const keyOf = (folder: string, name: string): string => join(folder, `${name}.key`);

export function readPair(folder: string, name: string): KeyPair | undefined {
  const [certificate, key] = [certificateOf(folder, name), keyOf(folder, name)];
  if (!existsSync(certificate) || !existsSync(key)) return undefined;
  return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
}

export function writePair(folder: string, name: string, { certificate, key }: KeyPair): void {
  writeFileSync(keyOf(folder, name), key, { mode: 0o600 });
  writeFileSync(certificateOf(folder, name), certificate);
}
