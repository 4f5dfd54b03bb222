import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest, type StatusError } from '../api/status.ts';
import { type Decoded, type DecodeOptions, decodeObject } from '../codec/decode.ts';
import { DecodeError, MalformedMessage } from '../codec/decode-error.ts';
import { infiniteNumberOf } from '../codec/infinite-numbers.ts';
import { inOrderOfKeys, strictProblems, unknownField } from '../codec/json-fields.ts';
import type { ParsedDocument } from '../codec/json-text.ts';
import { bodyFormat, type Format } from '../codec/negotiate.ts';
import { parseBytes } from '../codec/wire-formats.ts';
import { readYamlAside } from '../codec/yaml-aside.ts';
import { repeatedKeysError, warningsOf } from '../codec/yaml-problems.ts';
import { isObject } from '../object/json-values.ts';
import { withoutWritten } from '../object/written-number.ts';
import type { ApiRequest, AuthorizedResourceRequest } from '../request/api-request.ts';
import { endTurn, inOwnTurn, isLarge } from '../util/turns.ts';
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

/** Decodes the bytes of a request to an object of the expected type. */

/** Larger bodies are refused (Kubernetes: 3 MiB). */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** A body, or the result of a patch. */
interface DocumentToDecode extends DecodeOptions, Omit<ParsedDocument, 'fresh'> {
  readonly refusal: Refusal;
  /** For custom resources (CustomDecodeOptions). */
  readonly keepsNulls?: boolean;
  /** The JSON of the value, whose order strict validation reports problems in. */
  readonly json?: Buffer;
  /** Further problems for strict validation, in words. */
  readonly problems?: readonly string[];
}

/**
 * Makes the refusal of a value of the wrong type. `given`: the value, when it states its type; `no-kind` when it does not;
 * `other-version` when its type has another version.
 */
export type Refusal = (why: string, given?: JsonObject | 'other-version' | 'no-kind') => StatusError;

/**
 * Reads the body of a request. YAML has been parsed outside the event loop when this resolves, so that the parser only fetches
 * the result.
 * @throws StatusError 400, 413, 429
 */
export async function readBytes(request: ApiRequest): Promise<Buffer> {
  const bytes = await request.body(MAX_BODY_BYTES);
  const isYaml = /yaml/i.test(request.headers['content-type'] ?? '');
  if (isYaml) {
    await readYamlAside(bytes);
    // JSON labelled as YAML was parsed in this turn.
    if (isLarge(bytes.length)) await endTurn();
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
  const object = await inOwnTurn(isLarge(bytes.length), () =>
    toObject(request, document, expected, validation),
  );
  request.audit?.requestObject(object);
  return object;
}

/**
 * Reads an object that can be taken repeatedly: a writer changes its copy, and needs another after a conflict. Decoding again
 * in that rare case is cheaper than copying each time (55 µs for a pod).
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
  /** Returns a copy that belongs to the caller. */
  take(): ApiObject;
}

const formatOf = ({ headers, knowsCbor }: ApiRequest, { custom }: Expected): Format =>
  bodyFormat(headers['content-type'], { protobuf: custom === undefined, cbor: knowsCbor });

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
      return { ...asWritten(document, expected), refusal, ...(format === 'json' ? { json: bytes } : {}) };
    return { ...document, refusal, duplicates: [], problems: [repeatedKeysError(document.duplicates)] };
  } catch (error) {
    if (error instanceof SyntaxError)
      throw refusal(format === 'json' ? inHead(error.message) : error.message);
    if (!(error instanceof MalformedMessage)) throw error;
    checkType(error.head, expected, refusal);
    throw refusal(error.message, error.head);
  }
}

/** Built-in types distinguish `1.0` from `1`. Custom resources are decoded without a type, where both are 1. */
const asWritten = (document: ParsedDocument, { custom }: Expected): ParsedDocument =>
  document.written === undefined || custom !== undefined
    ? document
    : { ...document, value: document.written() };

/**
 * Checks kind and apiVersion, decodes, and treats unknown and repeated fields as the request asks.
 * @throws StatusError 400, or the document's refusal
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
  const problems = [...(document.problems ?? []), ...fieldProblems(document, unknown, expected)];
  if (problems.length > 0) report(request, problems, validation, (why) => refusal(why, value));
  return withType(object, expected, value);
}

function fieldProblems(
  { duplicates, json }: DocumentToDecode,
  unknown: readonly string[],
  { custom }: Expected,
): string[] {
  if (unknown.length + duplicates.length === 0) return [];
  if (custom === undefined && json !== undefined) return strictProblems(json, unknown);
  const repeated = duplicates.map((path) => `duplicate field "${path}"`);
  const sorted = custom === undefined ? inOrderOfKeys(unknown) : unknown;
  return [...repeated, ...sorted.map(unknownField)];
}

/** Accepts null as an empty object. @throws StatusError */
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
    if (expected.custom !== undefined) {
      refuseInfinite(value, document);
      return expected.custom.decode(value, document);
    }
    const decoded = decodeObject(value, expected.schema, document);
    if (document.written !== undefined) withoutWritten(decoded.object);
    return decoded;
  } catch (error) {
    if (error instanceof DecodeError) throw document.refusal(error.message, value);
    throw error;
  }
}

/** JSON has no form for infinity: the number would be stored as null. @throws DecodeError */
function refuseInfinite(value: JsonObject, { json, written }: DocumentToDecode): void {
  // Only a text with fractions or exponents can hold one.
  if (json === undefined || written === undefined) return;
  const infinite = infiniteNumberOf(value, json);
  if (infinite !== undefined)
    throw new DecodeError(`json: cannot unmarshal number ${infinite} into Go value of type float64`);
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

/** Changes `object`, which was decoded for this request. */
function withType(object: JsonObject, { group, version, kind }: Expected, given: JsonObject): ApiObject {
  const apiVersion = toApiVersion({ group, version });
  const typed = hasType(object, kind, apiVersion) ? object : retyped(object, kind, apiVersion);
  // An empty list of managed fields resets them; other empty lists are dropped.
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
