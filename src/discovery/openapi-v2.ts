import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
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
}

const DEFINITIONS = '},"definitions":{';

export async function makeBuiltInPart(
  source: DocumentSource,
  described: readonly Described[],
  form: DocumentForm,
): Promise<BuiltInPart> {
  const document = await buildDocument(source, 'v2', described);
  addWhatCustomNeeds(source, document);
  if (form === 'protobuf') {
    const whole = Buffer.from(await encodeOpenApiV2(document));
    return { head: whole, tail: Buffer.alloc(0), etag: hash([whole]) };
  }
  const { definitions = {}, ...rest } = document;
  const head = await toJsonInTurns(rest);
  const tail = await toJsonInTurns({ definitions });
  return {
    // Without the ends of the paths and of the document, and without the beginning of the second.
    head: head.subarray(0, -2),
    tail: Buffer.concat([Buffer.from(DEFINITIONS), tail.subarray(tail.indexOf(':') + 2, -2)]),
    etag: hash([head, tail]),
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
  custom: () => Iterable<CustomPart>,
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

/** What one version of a custom resource adds. */
interface CustomPart {
  paths(): JsonObject;
  definitions(): JsonObject;
}

export function* customParts(source: DocumentSource, described: readonly Described[]): Iterable<CustomPart> {
  for (const one of described) {
    for (const served of one.resources) yield customPart(source, one, served);
  }
}

function customPart({ types }: DocumentSource, { key }: Described, served: ServedResource): CustomPart {
  const own = customTypes(served, 'v2', types);
  const refer = (type: string): JsonObject =>
    definitionRef('v2', own.get(type)?.definition ?? types.message(type).definition);
  return {
    paths: () => writePaths(pathWriter(key, 'v2', { refer }), types, served),
    definitions: () =>
      Object.fromEntries([...own.values()].map(({ definition, make }) => [definition, make()])),
  };
}
