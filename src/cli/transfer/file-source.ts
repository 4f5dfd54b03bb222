import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { readDocuments } from './documents.ts';
import { inOrder, type Unordered } from './in-order.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourcePart } from './source.ts';
import { HISTORY_SUFFIX } from './yaml-output.ts';

/** A file of YAML or JSON, or a folder of them. All objects are read into memory. */
export class FileSource implements Source {
  readonly leftOut: readonly string[] = [];
  readonly historyFile: string;
  readonly #path: string;
  readonly #shapes: Shapes;
  readonly #covered = new Set<string>();

  constructor(path: string, shapes: Shapes) {
    this.#path = path;
    this.#shapes = shapes;
    this.historyFile = statSync(path).isDirectory()
      ? join(path, `all${HISTORY_SUFFIX}`)
      : `${path.replace(/\.[a-z]+$/, '')}${HISTORY_SUFFIX}`;
  }

  async *read(): AsyncGenerator<SourcePart> {
    for (const part of inOrder(this.#readAll(), this.#shapes)) {
      const [first] = part.objects;
      const resource = first === undefined ? undefined : this.#shapes.resourceOf(first);
      if (resource !== undefined) this.#covered.add(toQualifiedResource(resource));
      yield part;
    }
  }

  covers(resource: GroupResource): boolean {
    return this.#covered.has(toQualifiedResource(resource));
  }

  async close(): Promise<void> {}

  *#readAll(): Generator<Unordered> {
    for (const path of filesOf(this.#path))
      for (const object of readDocuments(path, readFileSync(path, 'utf8'))) yield toUnordered(object);
  }
}

const toUnordered = (object: JsonObject): Unordered => ({
  apiVersion: String(object.apiVersion),
  kind: String(object.kind),
  read: () => object,
});

function filesOf(path: string): readonly string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}
