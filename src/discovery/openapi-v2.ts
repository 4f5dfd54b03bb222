import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { RemoteDocument } from '../registry/remote-apis.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { customTypes, METADATA_TYPES } from './custom-types.ts';
import { hash } from './hash.ts';
import {
  buildDocument,
  type Contents,
  type Described,
  type DocumentSource,
  pathWriter,
  toJsonInTurns,
} from './openapi-document.ts';
import { parametersToCome } from './openapi-parameters.ts';
import { writePaths } from './openapi-paths.ts';
import { encodeOpenApiV2, encodeOpenApiV2Part } from './openapi-protobuf/protobuf-v2.ts';
import { definitionRef, SchemaWriter } from './openapi-schema.ts';

/**
 * Makes the single document of all groups. With a thousand definitions it has 100 MB, and few clients still request it: the
 * part of the built-in resources is kept; the rest is made while it is sent, never in memory as a whole.
 */

export type DocumentForm = 'json' | 'protobuf';

/** The part of the document that definitions do not change. */
export interface BuiltInPart {
  /** JSON: up to the last path. Protobuf: all. */
  readonly head: Buffer;
  /** JSON: from the end of the paths up to the last definition. */
  readonly tail: Buffer;
  readonly etag: string;
  /** The names of its definitions. */
  readonly names: ReadonlySet<string>;
}

const DEFINITIONS = '},"definitions":{';

export async function makeBuiltInPart(
  source: DocumentSource,
  contents: Contents,
  form: DocumentForm,
): Promise<BuiltInPart> {
  const document = await buildDocument(source, 'v2', contents);
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
function addWhatCustomNeeds(source: DocumentSource, document: JsonObject): void {
  const schemas = new SchemaWriter(source, 'v2', () => []);
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
      const madePaths = paths();
      yield END_OF_TURN;
      const made = definitions();
      yield END_OF_TURN;
      yield encodeOpenApiV2Part({ paths: madePaths, definitions: made });
      yield END_OF_TURN;
    }
    return;
  }
  // All built-in groups may be switched off.
  let separator = head.at(-1) === OPENING ? '' : ',';
  for (const { paths } of custom()) {
    const members = toMembers(separator, paths());
    yield members;
    yield END_OF_TURN;
    if (members.length > 0) separator = ',';
  }
  yield tail;
  for (const { definitions } of custom()) {
    const made = definitions();
    yield END_OF_TURN;
    yield toMembers(',', made);
    yield END_OF_TURN;
  }
  yield Buffer.from('}}');
}

const OPENING = '{'.charCodeAt(0);

const END_OF_TURN = Buffer.alloc(0);

/** `{"a":1}` → `,"a":1`. Nothing where there are none, as in a part whose definitions other parts have. */
function toMembers(separator: string, object: JsonObject): Buffer {
  const members = JSON.stringify(object).slice(1, -1);
  return Buffer.from(members === '' ? '' : `${separator}${members}`);
}

/** The part of a version of a custom resource, or of another server. */
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

function customPart(
  { types, cbor = false }: DocumentSource,
  { key }: Described,
  served: ServedResource,
): DocumentPart {
  const own = customTypes(served, 'v2', types);
  const refer = (type: string): JsonObject =>
    definitionRef('v2', own.get(type)?.definition ?? types.message(type).definition);
  return {
    paths: () =>
      writePaths(
        pathWriter(key, 'v2', { schemas: { refer }, cbor, toCome: parametersToCome(types) }),
        types,
        served,
      ),
    definitions: () =>
      Object.fromEntries([...own.values()].map(({ definition, make }) => [definition, make()])),
  };
}

/**
 * The parts of other servers. A definition whose name this server or an earlier part already has counts as equal: nearly all of
 * these are Kubernetes' own. Leaves out parts that cannot be encoded, to keep the document valid.
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
  return getOrAdd(WRITABLE, document, () => canWrite(document));
}

function canWrite({ paths, definitions }: RemoteDocument): boolean {
  try {
    encodeOpenApiV2Part({ paths, definitions });
    return true;
  } catch {
    return false;
  }
}
