import { canonicalApiVersion } from '../api/dialect.ts';
import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, type StatusError } from '../api/status.ts';
import { type Decoded, type DecodeOptions, decodeObject } from '../codec/decode.ts';
import { DecodeError } from '../codec/decode-error.ts';
import type { ParsedDocument } from '../codec/json-text.ts';
import { bodyFormat, type Format } from '../codec/negotiate.ts';
import { parseBytes } from '../codec/parse-bytes.ts';
import { isObject } from '../object/merge-patch.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import { breathe, isLarge } from './breathe.ts';
import type { FieldValidation } from './mutation-options.ts';
import { receive } from './receive.ts';

/** From the bytes of a request to an object of the right type. */

/** What a body must be. */
export interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: MessageSchema;
}

/** A body, or what was made of an object and a body. */
export interface DocumentToDecode extends DecodeOptions, Omit<ParsedDocument, 'fresh'> {}

/** @throws StatusError 400, 413, 415 */
export async function readObject(
  request: AuthorizedResourceRequest,
  expected: Expected,
  validation: FieldValidation,
): Promise<ApiObject> {
  const format = bodyFormat(request.headers['content-type']);
  const bytes = await receive(request);
  const document = parseDocument(bytes, format, expected);
  await breathe(isLarge(bytes.length));
  const object = toObject(request, document, expected, validation);
  request.audit?.requestObject(object);
  return object;
}

/**
 * The same as something to be had more than once: a writer changes what it gets, and asks again after a conflict. Decoding
 * again in that rare case is cheaper than copying each time (55 µs for a pod).
 * @throws StatusError 400, 413, 415
 */
export async function readReplacement(
  request: AuthorizedResourceRequest,
  expected: Expected,
  validation: FieldValidation,
): Promise<Replacement> {
  const format = bodyFormat(request.headers['content-type']);
  const bytes = await receive(request);
  const decode = (): ApiObject =>
    toObject(request, parseDocument(bytes, format, expected), expected, validation);
  const first = decode();
  let unused: ApiObject | undefined = first;
  return {
    name: first.metadata.name,
    take: () => {
      const object = unused ?? decode();
      unused = undefined;
      return object;
    },
  };
}

export interface Replacement {
  readonly name: string | undefined;
  /** The caller's own. */
  take(): ApiObject;
}

/** @throws StatusError 400 */
export function parseDocument(bytes: Buffer, format: Format, expected: Expected): ParsedDocument {
  try {
    return parseBytes(bytes, format, expected.schema);
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadable(expected, error.message);
    throw error;
  }
}

/**
 * Checks kind and apiVersion, decodes, and treats unknown and repeated fields as the request asks.
 * @throws StatusError 400
 */
export function toObject(
  request: AuthorizedResourceRequest,
  document: DocumentToDecode,
  expected: Expected,
  validation: FieldValidation,
): ApiObject {
  const value = asObject(document.value, expected);
  checkType(value, expected);
  const { object, unknown } = decodeAs(value, expected, document);
  const problems = [
    ...unknown.map((path) => `unknown field "${path}"`),
    ...document.duplicates.map((path) => `duplicate field "${path}"`),
  ];
  if (problems.length > 0) report(request, problems, expected, validation);
  return withType(object, expected, value);
}

function asObject(value: JsonValue, expected: Expected): JsonObject {
  if (isObject(value)) return value;
  throw unreadable(
    expected,
    `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type ${expected.version}.${expected.kind}`,
  );
}

function checkType(value: JsonObject, { group, version, kind }: Expected): void {
  const given = value.apiVersion;
  if (typeof value.kind === 'string' && value.kind !== '' && value.kind !== kind) {
    throw badRequest(
      `${value.kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: the kind in the data (${value.kind}) does not match the expected kind (${kind})`,
    );
  }
  if (typeof given !== 'string' || given === '') return;
  const wanted = toApiVersion({ group, version });
  if (canonicalApiVersion(given) === wanted) return;
  throw badRequest(
    `the API version in the data (${given}) does not match the expected API version (${wanted})`,
  );
}

/** @throws StatusError 400 */
function decodeAs(value: JsonObject, expected: Expected, options: DecodeOptions): Decoded {
  try {
    return decodeObject(value, expected.schema, options);
  } catch (error) {
    if (error instanceof DecodeError) throw unreadable(expected, error.message);
    throw error;
  }
}

function report(
  request: AuthorizedResourceRequest,
  problems: readonly string[],
  expected: Expected,
  validation: FieldValidation,
): void {
  switch (validation) {
    case 'Ignore':
      return;
    case 'Warn':
      for (const problem of problems) request.warn(problem);
      return;
    case 'Strict':
      throw unreadable(expected, `strict decoding error: ${problems.join(', ')}`);
    default:
      validation satisfies never;
  }
}

function unreadable({ kind, version }: Expected, why: string): StatusError {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);
}

/** `object` was decoded for this request, so that it may be changed. */
function withType(object: JsonObject, { group, version, kind }: Expected, given: JsonObject): ApiObject {
  const apiVersion = toApiVersion({ group, version });
  const typed = hasType(object, kind, apiVersion) ? object : retyped(object, kind, apiVersion);
  // An empty list of owners asks for them to be forgotten; no other empty list means anything.
  if (isObject(given.metadata) && isEmptyList(given.metadata.managedFields))
    typed.metadata.managedFields = [];
  return typed;
}

function hasType(object: JsonObject, kind: string, apiVersion: string): object is ApiObject {
  return object.kind === kind && object.apiVersion === apiVersion && isObject(object.metadata);
}

function retyped(object: JsonObject, kind: string, apiVersion: string): ApiObject {
  const { kind: _, apiVersion: __, metadata, ...rest } = object;
  return { kind, apiVersion, metadata: isObject(metadata) ? metadata : {}, ...rest };
}

const isEmptyList = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length === 0;

/** A served resource's own kind. */
export function expectedOf({ definition, version }: ServedResource, schema: MessageSchema): Expected {
  return { group: definition.group, version: version.version, kind: definition.kind, schema };
}
