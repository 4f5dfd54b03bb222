import { createHash } from 'node:crypto';
import { type Dialect, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { Registry, ServedResource } from '../registry/registry.ts';
import { writePaths } from './openapi-paths.ts';
import { encodeOpenApiV2 } from './openapi-protobuf/v2.ts';
import { encodeOpenApiV3 } from './openapi-protobuf/v3.ts';
import { type OpenApiVersion, SchemaWriter } from './openapi-schema.ts';

/** Group version as OpenAPI documents are divided: `api/v1`, `apis/apps/v1`. */
export interface DocumentKey {
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly dialect: Dialect;
}

/** Bytes with the hash that names them. */
export interface Document {
  readonly bytes: Buffer;
  readonly etag: string;
}

export type DocumentForm = 'json' | 'protobuf';

const toJson = (document: JsonObject): Buffer => Buffer.from(JSON.stringify(document));

/** Builds OpenAPI documents when they are asked for, and keeps their bytes until the registry changes. */
export class OpenApi {
  readonly #registry: Registry;
  readonly #types: TypeLibrary;
  readonly #gitVersion: string;
  readonly #documents = new Map<string, Document>();

  constructor(options: { registry: Registry; types: TypeLibrary; gitVersion: string }) {
    this.#registry = options.registry;
    this.#types = options.types;
    this.#gitVersion = options.gitVersion;
    this.#registry.onChange(() => this.#documents.clear());
  }

  groupVersion(key: DocumentKey, form: DocumentForm = 'json'): Document {
    const build = (): JsonObject => this.#build('v3', [key]);
    return this.#once(`${key.path} ${form}`, () =>
      form === 'json' ? toJson(build()) : encodeOpenApiV3(build()),
    );
  }

  /** Everything in one document. */
  whole(keys: readonly DocumentKey[], form: DocumentForm = 'json'): Document {
    const build = (): JsonObject => this.#build('v2', keys);
    return this.#once(`v2 ${form}`, () => (form === 'json' ? toJson(build()) : encodeOpenApiV2(build())));
  }

  #once(name: string, encode: () => Uint8Array): Document {
    let document = this.#documents.get(name);
    if (document === undefined) {
      const bytes = Buffer.from(encode());
      document = { bytes, etag: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
      this.#documents.set(name, document);
    }
    return document;
  }

  #build(version: OpenApiVersion, keys: readonly DocumentKey[]): JsonObject {
    const schemas = new SchemaWriter(this.#types, version, (type) => this.#kindsOf(type, keys));
    const paths: JsonObject = {};
    for (const key of keys) {
      const kind = (of: GroupVersionKind): GroupVersionKind => ({
        ...of,
        group: dialectGroup(of.group, key.dialect),
      });
      const writer = { version, schemas, root: `/${key.path}`, tag: tagOf(key), kind };
      for (const served of this.#registry.resources(key.group, key.version)) {
        Object.assign(paths, writePaths(writer, this.#types, served));
      }
    }
    const info = { title: 'pg-apiserver', version: this.#gitVersion };
    return version === 'v2'
      ? { swagger: '2.0', info, paths, definitions: schemas.definitions }
      : { openapi: '3.0.0', info, paths, components: { schemas: schemas.definitions } };
  }

  /** Which kinds a type is served as, in the dialects of the document. */
  #kindsOf(type: string, keys: readonly DocumentKey[]): GroupVersionKind[] {
    const kinds: GroupVersionKind[] = [];
    for (const { group, version, dialect } of keys) {
      for (const { definition, version: served } of this.#registry.resources(group, version)) {
        const name = dialectGroup(definition.group, dialect);
        if (served.type === type) kinds.push({ group: name, version, kind: definition.kind });
        else if (`${served.type}List` === type)
          kinds.push({ group: name, version, kind: definition.listKind });
        else kinds.push(...subresourceKinds(definition.subresources, type, dialect));
      }
    }
    const seen = new Set<string>();
    return kinds.filter(({ group, version, kind }) => {
      const key = `${group}/${version}/${kind}`;
      return seen.size < seen.add(key).size;
    });
  }
}

function subresourceKinds(
  subresources: ServedResource['definition']['subresources'],
  type: string,
  dialect: Dialect,
): GroupVersionKind[] {
  return subresources
    .filter((subresource) => subresource.type === type)
    .map(({ served }) => ({ ...served, group: dialectGroup(served.group, dialect) }));
}

/** `apis/rbac.authorization.k8s.io/v1` → `RbacAuthorizationV1`. */
function tagOf({ group, version }: DocumentKey): string {
  const stem = group === '' ? 'core' : group.replace(/\.(k8s|cluster)\.io$/, '');
  return [...stem.split('.'), version].map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
}
