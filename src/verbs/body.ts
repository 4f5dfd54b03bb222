import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, type StatusError } from '../api/status.ts';
import { type Decoded, type DecodeOptions, decodeObject } from '../codec/decode.ts';
import { DecodeError, MalformedMessage } from '../codec/decode-error.ts';
import { parseBytes } from '../codec/formats.ts';
import type { ParsedDocument } from '../codec/json-text.ts';
import { bodyFormat, type Format } from '../codec/negotiate.ts';
import { readYamlAside } from '../codec/yaml-aside.ts';
import { repeatedKeysError, warningsOf } from '../codec/yaml-problems.ts';
import { isObject } from '../object/json-values.ts';
import { withoutWritten } from '../object/written-number.ts';
import type { ApiRequest, AuthorizedResourceRequest } from '../request/api-request.ts';
import {
  customMismatchOf,
  declaredType,
  type Expected,
  headError,
  inHead,
  mismatchOf,
  unreadable,
  unrecognized,
  withoutKind,
  wrongType,
} from './declared-type.ts';
import type { FieldValidation } from './mutation-options.ts';
import { endTurnIf, isLarge } from './writing/call.ts';

/** From the bytes of a request to an object of the right type. */

/** A larger body is refused (Kubernetes: 3 MiB). */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** A body, or what was made of an object and a body. */
export interface DocumentToDecode extends DecodeOptions, Omit<ParsedDocument, 'fresh'> {
  readonly refusal: Refusal;
  /** Of custom resources (CustomDecodeOptions). */
  readonly keepsNulls?: boolean;
  /** What else a strict reader minds, in words. */
  readonly problems?: readonly string[];
}

/**
 * The answer for what is no object of the type that is expected. `given`: the value, once it can say what it is; that it does not
 * say it, though it should; or that it is of another version, which says everything.
 */
export type Refusal = (why: string, given?: JsonObject | 'other-version' | 'no-kind') => StatusError;

/**
 * The body of a request. One in YAML has been read already when this resolves, aside of the event loop, so that the parser
 * only fetches the result.
 * @throws StatusError 400, 413, 429
 */
export async function readBytes(request: ApiRequest): Promise<Buffer> {
  const bytes = await request.body(MAX_BODY_BYTES);
  const isYaml = /yaml/i.test(request.headers['content-type'] ?? '');
  if (isYaml) {
    await readYamlAside(bytes);
    // JSON that calls itself YAML was read here.
    await endTurnIf(isLarge(bytes.length));
  }
  return bytes;
}

/** @throws StatusError 400, 413, 415 */
export async function readObject(
  request: AuthorizedResourceRequest,
  expected: Expected,
  validation: FieldValidation,
): Promise<ApiObject> {
  const format = formatOf(request, expected);
  const bytes = await readBytes(request);
  const document = readDocument(bytes, format, expected);
  await endTurnIf(isLarge(bytes.length));
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
  const format = formatOf(request, expected);
  const bytes = await readBytes(request);
  const decode = (): ApiObject =>
    toObject(request, readDocument(bytes, format, expected), expected, validation);
  const first = decode();
  request.audit?.requestObject(first);
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

const formatOf = ({ headers }: ApiRequest, { custom }: Expected): Format =>
  bodyFormat(headers['content-type'], { protobuf: custom === undefined });

/** @throws StatusError 400 */
function readDocument(bytes: Buffer, format: Format, expected: Expected): DocumentToDecode {
  const refusal: Refusal = (why, given) => {
    if (given === 'other-version') return badRequest(why);
    if (given === 'no-kind') return withoutKind(expected, why, bytes);
    if (given === undefined) return unrecognized(expected, why, bytes);
    return unreadable(declaredType(given, expected), expected, why);
  };
  try {
    const document = parseBytes(bytes, format, expected.schema);
    if (format !== 'yaml' || document.duplicates.length === 0)
      return { ...asWritten(document, expected), refusal };
    return { ...document, refusal, duplicates: [], problems: [repeatedKeysError(document.duplicates)] };
  } catch (error) {
    if (error instanceof SyntaxError)
      throw refusal(format === 'json' ? inHead(error.message) : error.message);
    if (!(error instanceof MalformedMessage)) throw error;
    checkType(error.head, expected, refusal);
    throw refusal(error.message, error.head);
  }
}

/** Built-in types tell `1.0` from `1`. A custom resource is decoded without a type, where both are the number one. */
const asWritten = (document: ParsedDocument, { custom }: Expected): ParsedDocument =>
  document.written === undefined || custom !== undefined
    ? document
    : { ...document, value: document.written() };

/**
 * Checks kind and apiVersion, decodes, and treats unknown and repeated fields as the request asks.
 * @throws StatusError 400, or what the document's refusal is
 */
export function toObject(
  request: AuthorizedResourceRequest,
  document: DocumentToDecode,
  expected: Expected,
  validation: FieldValidation,
): ApiObject {
  const { refusal } = document;
  const value = checkType(document.value, expected, refusal);
  const { object, unknown } = decodeAs(value, expected, document);
  const ofSchema = unknown.map((path) => `unknown field "${path}"`);
  const repeated = document.duplicates.map((path) => `duplicate field "${path}"`);
  // What a definition does not have is known when its object has been read, repetitions included.
  const rest = expected.custom === undefined ? [...ofSchema, ...repeated] : [...repeated, ...ofSchema];
  const problems = [...(document.problems ?? []), ...rest];
  if (problems.length > 0) report(request, problems, validation, (why) => refusal(why, value));
  return withType(object, expected, value);
}

/** Nothing, too, is an object. @throws StatusError */
function checkType(given: JsonValue, expected: Expected, refusal: Refusal): JsonObject {
  const value = given ?? {};
  const error = headError(value);
  if (error !== undefined || !isObject(value)) throw refusal(error ?? '');
  if (expected.custom !== undefined) return checkCustomType(value, expected, refusal);
  const mismatch = mismatchOf(declaredType(value, expected), expected);
  if (mismatch === undefined) return value;
  throw refusal(mismatch.why, mismatch.kind === 'other-version' ? 'other-version' : value);
}

/** @throws StatusError */
function checkCustomType(value: JsonObject, expected: Expected, refusal: Refusal): JsonObject {
  const mismatch = customMismatchOf(value, expected);
  switch (mismatch?.kind) {
    case undefined:
      return value;
    case 'no-kind':
    case 'other-version':
      throw refusal(mismatch.why, mismatch.kind);
    case 'other-kind':
      throw wrongType('kind', value, expected);
    default:
      return mismatch satisfies never;
  }
}

/** @throws StatusError */
function decodeAs(value: JsonObject, expected: Expected, document: DocumentToDecode): Decoded {
  try {
    if (expected.custom !== undefined) return expected.custom.decode(value, document);
    const decoded = decodeObject(value, expected.schema, document);
    if (document.written !== undefined) withoutWritten(decoded.object);
    return decoded;
  } catch (error) {
    if (error instanceof DecodeError) throw document.refusal(error.message, value);
    throw error;
  }
}

function report(
  request: AuthorizedResourceRequest,
  problems: readonly string[],
  validation: FieldValidation,
  refusal: (why: string) => StatusError,
): void {
  switch (validation) {
    case 'Ignore':
      return;
    case 'Warn':
      for (const warning of problems.flatMap(warningsOf)) request.warn(warning);
      return;
    case 'Strict':
      throw refusal(`strict decoding error: ${problems.join(', ')}`);
    default:
      validation satisfies never;
  }
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
