import { type Dialect, dialectGroup } from '../api/dialect.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import { Pace } from '../util/turns.ts';
import { customTypes, METADATA_TYPES, publishedView } from './custom-types.ts';
import { capitalized, stemOf, tagOf } from './openapi-names.ts';
import type { PathWriter } from './openapi-operations.ts';
import { type Page, resourcesPage, type ServedPages, writePages } from './openapi-pages.ts';
import { parametersToCome, sharedParameters } from './openapi-parameters.ts';
import { writePaths } from './openapi-paths.ts';
import { type ForeignType, type OpenApiVersion, type SchemaSource, SchemaWriter } from './openapi-schema.ts';

/** A group version, which has a document of its own: `api/v1`, `apis/apps/v1`. */
export interface DocumentKey {
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly dialect: Dialect;
}

/** The resources of a group version, as they were when the making of its document began. */
export interface Described {
  readonly key: DocumentKey;
  readonly resources: readonly ServedResource[];
}

export interface DocumentSource extends SchemaSource {
  readonly gitVersion: string;
  /** None by default. */
  readonly pages?: ServedPages | undefined;
}

/** What a document describes. */
export interface Contents {
  readonly described: readonly Described[];
  /** Beside the pages of the group versions. */
  readonly pages: readonly Page[];
}

/** One document of all that is described. Yields the event loop between resources. */
export async function buildDocument(
  source: DocumentSource,
  version: OpenApiVersion,
  { described, pages }: Contents,
): Promise<JsonObject> {
  const { types, gitVersion } = source;
  const kinds = kindsByType(described);
  const schemas = new SchemaWriter(source, version, (type) => kinds.get(type) ?? []);
  const paths: JsonObject = {};
  const toCome = parametersToCome(types);
  const shown: Page[] = [...pages];
  const pace = new Pace({ stepsBetween: 1 });
  for (const { key, resources } of described) {
    const writer = pathWriter(key, version, { schemas, cbor: source.cbor === true, toCome });
    if (resources.some(({ definition }) => definition.custom === undefined))
      shown.push(resourcesPage(writer));
    for (const served of resources) {
      if (pace.isOver()) await pace.rest();
      introduce(schemas, customTypes(served, version, types));
      Object.assign(paths, writePaths(writer, types, served));
    }
  }
  if (source.pages !== undefined)
    Object.assign(paths, writePages(version, schemas, shown, source.pages.versionFields));
  const info = { title: 'pg-apiserver', version: gitVersion };
  return version === 'v2'
    ? {
        swagger: '2.0',
        info,
        parameters: sharedParameters(toCome),
        securityDefinitions: BEARER_TOKEN,
        security: [{ BearerToken: [] }],
        // The last two, between which the parts of custom resources are put.
        paths,
        definitions: schemas.definitions,
      }
    : {
        openapi: '3.0.0',
        info,
        paths,
        components: { ...unlessEmpty(schemas.definitions), securitySchemes: BEARER_TOKEN },
      };
}

/** How clients say who they are. */
const BEARER_TOKEN: JsonObject = {
  BearerToken: {
    description: 'A token after the word Bearer.',
    type: 'apiKey',
    name: 'authorization',
    in: 'header',
  },
};

/** Go's types of documents omit what is empty. */
const unlessEmpty = (schemas: JsonObject): JsonObject =>
  Object.keys(schemas).length === 0 ? {} : { schemas };

/** Custom types refer to metadata by the names of its definitions. */
function introduce(schemas: SchemaWriter, custom: ReadonlyMap<string, ForeignType>): void {
  for (const [name, type] of custom) schemas.introduce(name, type);
  if (custom.size > 0) for (const type of METADATA_TYPES) schemas.refer(type);
}

export function pathWriter(
  key: DocumentKey,
  version: OpenApiVersion,
  parts: Pick<PathWriter, 'schemas' | 'cbor' | 'toCome'>,
): PathWriter {
  const kind = (of: GroupVersionKind): GroupVersionKind => ({
    ...of,
    group: dialectGroup(of.group, key.dialect),
  });
  const id = `${stemOf(key.group)}${capitalized(key.version)}`;
  const tag = `${tagOf(key.group)}_${key.version}`;
  return { version, ...parts, root: `/${key.path}`, id, tag, kind };
}

/** The kinds under which types of the IDL are served, in the dialects of the document. */
function kindsByType(described: readonly Described[]): ReadonlyMap<string, readonly GroupVersionKind[]> {
  const kinds = new Map<string, Map<string, GroupVersionKind>>();
  const add = (type: string, { group, version, kind }: GroupVersionKind): void => {
    const known = kinds.get(type) ?? new Map<string, GroupVersionKind>();
    known.set(`${group}/${version}/${kind}`, { group, version, kind });
    kinds.set(type, known);
  };
  for (const kind of ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])
    add(`meta/v1.${kind}`, { group: '', version: 'v1', kind });
  // Stateful sets have templates of claims, whose kind is in the documents of both groups.
  add('core/v1.PersistentVolumeClaim', { group: '', version: 'v1', kind: 'PersistentVolumeClaim' });
  for (const { key, resources } of described) {
    const group = dialectGroup(key.group, key.dialect);
    for (const kind of ['DeleteOptions', 'WatchEvent'])
      for (const one of [
        { group: '', version: 'v1' },
        { group, version: key.version },
      ])
        add(`meta/v1.${kind}`, { ...one, kind });
    for (const served of resources) {
      const { group, kind, listKind, subresources } = served.definition;
      const own = { group: dialectGroup(group, key.dialect), version: key.version };
      const { type } = served.version;
      add(type, { ...own, kind });
      add(`${type}List`, { ...own, kind: listKind });
      for (const subresource of subresources) {
        const view = publishedView(served, subresource);
        add(view.type, { ...view.kind, group: dialectGroup(view.kind.group, key.dialect) });
      }
    }
  }
  return new Map([...kinds].map(([type, known]) => [type, [...known.values()]]));
}

/** Objects are split this deep: down to single paths and definitions. */
const DEPTH = 3;

/** JSON of a document of some megabytes; yields the event loop between its parts. */
export async function toJsonInTurns(document: JsonObject): Promise<Buffer> {
  const pace = new Pace({ stepsBetween: 1 });
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
