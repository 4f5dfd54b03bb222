import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { readDocuments } from './documents.ts';
import { inOrder, type Unordered } from './in-order.ts';
import type { Shapes } from './shapes.ts';
import type { Source, SourcePart, Unread } from './source.ts';
import { HISTORY_SUFFIX } from './yaml-output.ts';

/** A file of YAML or JSON, or a folder of them. All objects are read into memory. */
export class FileSource implements Source {
  readonly isPartial = true;
  readonly unread: readonly Unread[] = [];
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
      for (const object of part.objects) {
        const resource = this.#shapes.resourceOf(object);
        if (resource !== undefined) this.#covered.add(scopeOf(resource, namespaceOf(object)));
      }
      yield part;
    }
  }

  /** A file that has objects of a namespace may have none of another. It has all namespaces only if it has the whole cluster. */
  covers({ group, resource, namespace }: ObjectKey): boolean {
    const isNamespaces = group === '' && resource === 'namespaces';
    return !isNamespaces && this.#covered.has(scopeOf({ group, resource }, namespace));
  }

  async close(): Promise<void> {}

  *#readAll(): Generator<Unordered> {
    for (const path of filesOf(this.#path))
      for (const object of readDocuments(path, readFileSync(path, 'utf8'))) yield toUnordered(object);
  }
}

const scopeOf = (resource: GroupResource, namespace: string): string =>
  `${toQualifiedResource(resource)} ${namespace}`;

const namespaceOf = ({ metadata }: JsonObject): string =>
  isObject(metadata) ? textOf(metadata.namespace) : '';

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
