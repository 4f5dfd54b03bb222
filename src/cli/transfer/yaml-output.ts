import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { toQualifiedResource } from '../../api/names.ts';
import { explainFlag, UsageError } from '../../options/flag.ts';
import { makeFolder } from '../../util/make-folder.ts';
import type { ApiResource } from './api-resources.ts';

/** YamlOutput takes the documents of an export: one stream of all, or a file for each resource in a folder. */
export interface YamlOutput {
  /** The file beside the documents for what is no document; undefined where they go to the standard output. */
  readonly historyFile: string | undefined;
  /** Where documents of this resource go from now on. */
  begin(resource: ApiResource): Promise<void>;
  /** Waits while the disk is slower. */
  write(text: string): Promise<void>;
  end(): Promise<void>;
}

const PRIVATE = 0o600;

/** `to`: '' for the standard output, a file whose name ends with .yaml or .yml, or a folder. @throws UsageError */
export function openYamlOutput(to: string, flag: string): YamlOutput {
  if (to === '') return new OneStream(process.stdout, undefined);
  if (/\.ya?ml$/.test(to)) {
    if (existsSync(to))
      throw new UsageError(`${flag}: ${to} is there already: name another file, or remove it`);
    return new OneStream(openFile(to), `${to.replace(/\.ya?ml$/, '')}${HISTORY_SUFFIX}`);
  }
  if (existsSync(to) && !statSync(to).isDirectory())
    throw new UsageError(`${flag}: ${to} is neither a folder nor a file whose name ends with .yaml`);
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new UsageError(`${flag}: ${to} is not empty: name another folder, or empty it`);
  explainFlag(flag, () => makeFolder(to, { mode: 0o700 }));
  return new FolderOutput(to);
}

/** No file that kubectl would take for objects. */
export const HISTORY_SUFFIX = '.history.jsonl';

/** Exports have Secrets in them. */
export const openFile = (path: string): Writable => createWriteStream(path, { mode: PRIVATE, flags: 'wx' });

export async function writeTo(stream: Writable, text: string | Buffer): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

export async function endStream(stream: Writable): Promise<void> {
  stream.end();
  await once(stream, 'finish');
}

class OneStream implements YamlOutput {
  readonly historyFile: string | undefined;
  readonly #stream: Writable;

  constructor(stream: Writable, historyFile: string | undefined) {
    this.#stream = stream;
    this.historyFile = historyFile;
  }

  async begin(): Promise<void> {}

  write(text: string): Promise<void> {
    return writeTo(this.#stream, text);
  }

  async end(): Promise<void> {
    if (this.#stream !== process.stdout) await endStream(this.#stream);
  }
}

/** Numbered, so that kubectl, which reads files by name, meets them in the right order. Resources without objects have none. */
class FolderOutput implements YamlOutput {
  readonly historyFile: string;
  readonly #folder: string;
  #resource: ApiResource | undefined;
  #stream: Writable | undefined;
  #files = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.historyFile = join(folder, `all${HISTORY_SUFFIX}`);
  }

  async begin(resource: ApiResource): Promise<void> {
    await this.end();
    this.#resource = resource;
  }

  async write(text: string): Promise<void> {
    if (this.#stream === undefined && this.#resource !== undefined) {
      this.#files += 1;
      const number = String(this.#files).padStart(3, '0');
      this.#stream = openFile(join(this.#folder, `${number}-${toQualifiedResource(this.#resource)}.yaml`));
    }
    if (this.#stream !== undefined) await writeTo(this.#stream, text);
  }

  async end(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream !== undefined) await endStream(stream);
  }
}
