import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { RemoteDocument } from '../registry/remote-apis.ts';
import { customTypes, METADATA_TYPES } from './custom-types.ts';
import { hash } from './hash.ts';
import {
  buildDocument,
  type Described,
  type DocumentSource,
  pathWriter,
  toJsonInTurns,
} from './openapi-document.ts';
import { writePaths } from './openapi-paths.ts';
import { encodeOpenApiV2, encodeOpenApiV2Part } from './openapi-protobuf/v2.ts';
import { definitionRef, SchemaWriter } from './openapi-schema.ts';

/**
 * The one document of all groups. That of a thousand definitions has 100 MB, and nearly no client asks for it any more: the part
 * of the built-in resources is kept, what definitions add is made while it is sent, and is never in memory as a whole.
 */

export type DocumentForm = 'json' | 'protobuf';

/** The part of the document that definitions do not change. */
export interface BuiltInPart {
  /** JSON: up to the last path. Protobuf: all. */
  readonly head: Buffer;
  /** JSON: from the end of the paths up to the last definition. */
  readonly tail: Buffer;
  readonly etag: string;
  /** Of its definitions. */
  readonly names: ReadonlySet<string>;
}

const DEFINITIONS = '},"definitions":{';

export async function makeBuiltInPart(
  source: DocumentSource,
  described: readonly Described[],
  form: DocumentForm,
): Promise<BuiltInPart> {
  const document = await buildDocument(source, 'v2', described);
  addWhatCustomNeeds(source, document);
  const { definitions = {}, ...rest } = document;
  const names = new Set(Object.keys(definitions as JsonObject));
  if (form === 'protobuf') {
    const whole = Buffer.from(await encodeOpenApiV2(document));
    return { head: whole, tail: Buffer.alloc(0), etag: hash([whole]), names };
  }
  const head = await toJsonInTurns(rest);
  const tail = await toJsonInTurns({ definitions });
  return {
    // Without the ends of the paths and of the document, and without the beginning of the second.
    head: head.subarray(0, -2),
    tail: Buffer.concat([Buffer.from(DEFINITIONS), tail.subarray(tail.indexOf(':') + 2, -2)]),
    etag: hash([head, tail]),
    names,
  };
}

const NEEDED = [
  ...METADATA_TYPES,
  'meta/v1.Status',
  'meta/v1.DeleteOptions',
  'meta/v1.Patch',
  'autoscaling/v1.Scale',
];

/** Types that custom resources refer to, where --runtime-config leaves out all that have them. */
function addWhatCustomNeeds({ types }: DocumentSource, document: JsonObject): void {
  const schemas = new SchemaWriter(types, 'v2', () => []);
  for (const type of NEEDED) schemas.refer(type);
  document.definitions = { ...schemas.definitions, ...(document.definitions as JsonObject) };
}

/** The whole document. An empty piece ends a turn. */
export function* piecesOf(
  { head, tail }: BuiltInPart,
  custom: () => Iterable<DocumentPart>,
  form: DocumentForm,
): Iterable<Buffer> {
  yield head;
  if (form === 'protobuf') {
    for (const { paths, definitions } of custom()) {
      yield encodeOpenApiV2Part({ paths: paths(), definitions: definitions() });
      yield END_OF_TURN;
    }
    return;
  }
  // All built-in groups may be switched off.
  let separator = head.at(-1) === OPENING ? '' : ',';
  for (const { paths } of custom()) {
    yield toMembers(separator, paths());
    yield END_OF_TURN;
    separator = ',';
  }
  yield tail;
  for (const { definitions } of custom()) {
    yield toMembers(',', definitions());
    yield END_OF_TURN;
  }
  yield Buffer.from('}}');
}

const OPENING = '{'.charCodeAt(0);

const END_OF_TURN = Buffer.alloc(0);

/** `{"a":1}` → `,"a":1` */
const toMembers = (separator: string, object: JsonObject): Buffer =>
  Buffer.from(`${separator}${JSON.stringify(object).slice(1, -1)}`);

/** What one version of a custom resource adds, or another server. */
export interface DocumentPart {
  paths(): JsonObject;
  definitions(): JsonObject;
}

export function* customParts(
  source: DocumentSource,
  described: readonly Described[],
): Iterable<DocumentPart> {
  for (const one of described) {
    for (const served of one.resources) yield customPart(source, one, served);
  }
}

function customPart({ types }: DocumentSource, { key }: Described, served: ServedResource): DocumentPart {
  const own = customTypes(served, 'v2', types);
  const refer = (type: string): JsonObject =>
    definitionRef('v2', own.get(type)?.definition ?? types.message(type).definition);
  return {
    paths: () => writePaths(pathWriter(key, 'v2', { refer }), types, served),
    definitions: () =>
      Object.fromEntries([...own.values()].map(({ definition, make }) => [definition, make()])),
  };
}

/**
 * What other servers add. A definition that has the name of one of ours, or of one before it, is taken to be the same: nearly all
 * of those are Kubernetes' own. What cannot be written is left out, for it must not spoil the document of all others.
 */
export function* remoteParts(
  { names }: Pick<BuiltInPart, 'names'>,
  documents: readonly RemoteDocument[],
): Iterable<DocumentPart> {
  const taken = new Set(names);
  for (const document of documents) {
    if (!isWritable(document)) continue;
    const added = Object.entries(document.definitions).filter(([name]) => !taken.has(name));
    for (const [name] of added) taken.add(name);
    yield { paths: () => document.paths, definitions: () => Object.fromEntries(added) };
  }
}

const WRITABLE = new WeakMap<RemoteDocument, boolean>();

function isWritable(document: RemoteDocument): boolean {
  let writable = WRITABLE.get(document);
  if (writable === undefined) {
    writable = canWrite(document);
    WRITABLE.set(document, writable);
  }
  return writable;
}

function canWrite({ paths, definitions }: RemoteDocument): boolean {
  try {
    encodeOpenApiV2Part({ paths, definitions });
    return true;
  } catch {
    return false;
  }
}
