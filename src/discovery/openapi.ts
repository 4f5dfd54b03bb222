import { createHash } from 'node:crypto';
import { type Dialect, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import { Pace } from '../util/concurrency.ts';
import { writePaths } from './openapi-paths.ts';
import { encodeOpenApiV2 } from './openapi-protobuf/v2.ts';
import { encodeOpenApiV3 } from './openapi-protobuf/v3.ts';
import { type OpenApiVersion, SchemaWriter } from './openapi-schema.ts';

/** A group version, which has a document of its own: `api/v1`, `apis/apps/v1`. */
export interface DocumentKey {
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly dialect: Dialect;
}

/** The bytes of a document and their hash. */
export interface Document {
  readonly bytes: Buffer;
  readonly etag: string;
}

export type DocumentForm = 'json' | 'protobuf';

/** The resources of a document, as they were when its making began. */
interface Described {
  readonly key: DocumentKey;
  readonly resources: readonly ServedResource[];
}

/**
 * Makes OpenAPI documents on demand, and caches their bytes until the registry changes. The document of all groups takes 150 ms,
 * so its making yields the event loop.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #types: TypeLibrary;
  readonly #gitVersion: string;
  readonly #documents = new Map<string, Promise<Document>>();

  constructor(options: { registry: Registry; types: TypeLibrary; gitVersion: string }) {
    this.#registry = options.registry;
    this.#types = options.types;
    this.#gitVersion = options.gitVersion;
    this.#registry.onChange(() => this.#documents.clear());
  }

  groupVersion(key: DocumentKey, form: DocumentForm = 'json'): Promise<Document> {
    return this.#once(`${key.path} ${form}`, async () => {
      const document = await this.#build('v3', [key]);
      return form === 'json' ? toJsonInTurns(document) : encodeOpenApiV3(document);
    });
  }

  /** One document for all groups. */
  whole(keys: readonly DocumentKey[], form: DocumentForm = 'json'): Promise<Document> {
    return this.#once(`v2 ${form}`, async () => {
      const document = await this.#build('v2', keys);
      return form === 'json' ? toJsonInTurns(document) : encodeOpenApiV2(document);
    });
  }

  #once(name: string, encode: () => Promise<Uint8Array>): Promise<Document> {
    let document = this.#documents.get(name);
    if (document === undefined) {
      document = encode().then(toDocument);
      this.#documents.set(name, document);
      // A failure must not stay in the cache.
      document.catch(() => this.#documents.delete(name));
    }
    return document;
  }

  async #build(version: OpenApiVersion, keys: readonly DocumentKey[]): Promise<JsonObject> {
    const described = keys.map((key) => ({
      key,
      resources: [...this.#registry.resources(key.group, key.version)],
    }));
    const kinds = kindsByType(described);
    const schemas = new SchemaWriter(this.#types, version, (type) => kinds.get(type) ?? []);
    const paths: JsonObject = {};
    const pace = new Pace(1);
    for (const { key, resources } of described) {
      const kind = (of: GroupVersionKind): GroupVersionKind => ({
        ...of,
        group: dialectGroup(of.group, key.dialect),
      });
      const writer = { version, schemas, root: `/${key.path}`, tag: tagOf(key), kind };
      for (const served of resources) {
        if (pace.isOver()) await pace.rest();
        Object.assign(paths, writePaths(writer, this.#types, served));
      }
    }
    const info = { title: 'pg-apiserver', version: this.#gitVersion };
    return version === 'v2'
      ? { swagger: '2.0', info, paths, definitions: schemas.definitions }
      : { openapi: '3.0.0', info, paths, components: { schemas: schemas.definitions } };
  }
}

export function toDocument(encoded: Uint8Array): Document {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  return { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

/** The kinds under which types are served, in the dialects of the document. */
function kindsByType(described: readonly Described[]): ReadonlyMap<string, readonly GroupVersionKind[]> {
  const kinds = new Map<string, Map<string, GroupVersionKind>>();
  const add = (type: string, { group, version, kind }: GroupVersionKind): void => {
    const known = kinds.get(type) ?? new Map<string, GroupVersionKind>();
    known.set(`${group}/${version}/${kind}`, { group, version, kind });
    kinds.set(type, known);
  };
  for (const { key, resources } of described) {
    for (const { definition, version: served } of resources) {
      const { kind, listKind, subresources } = definition;
      const own = { group: dialectGroup(definition.group, key.dialect), version: key.version };
      add(served.type, { ...own, kind });
      add(`${served.type}List`, { ...own, kind: listKind });
      for (const subresource of subresources) {
        const { served: shown } = subresource;
        add(subresource.type, { ...shown, group: dialectGroup(shown.group, key.dialect) });
      }
    }
  }
  return new Map([...kinds].map(([type, known]) => [type, [...known.values()]]));
}

/** `apis/rbac.authorization.k8s.io/v1` → `RbacAuthorizationV1`. */
function tagOf({ group, version }: DocumentKey): string {
  const stem = group === '' ? 'core' : group.replace(/\.(k8s|cluster)\.io$/, '');
  return [...stem.split('.'), version].map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
}

/** Objects are split this deep: down to single paths and definitions. */
const DEPTH = 3;

/** JSON of a document of some megabytes; yields the event loop between its parts. */
async function toJsonInTurns(document: JsonObject): Promise<Buffer> {
  const pace = new Pace(1);
  const pieces: Buffer[] = [];
  for (const part of partsOf(document, DEPTH)) {
    if (pace.isOver()) await pace.rest();
    pieces.push(Buffer.from(part));
  }
  return Buffer.concat(pieces);
}

function* partsOf(value: JsonValue, depth: number): Iterable<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let open = '{';
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${open}${JSON.stringify(name)}:`;
    yield* partsOf(item, depth - 1);
    open = ',';
  }
  yield open === '{' ? '{}' : '}';
}
