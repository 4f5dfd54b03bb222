import { canonicalApiVersion } from '../api/dialect.ts';
import { typeName } from '../api/idl/type-name.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { toApiVersion } from '../api/names.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, invalid, type StatusError } from '../api/status.ts';
import { cannotUnmarshal, cannotUnmarshalField } from '../codec/decode-error.ts';
import { invalidValue } from '../object/field-errors.ts';
import { cutAfter, MAX_NAME_LETTERS } from '../object/go-value.ts';
import { isObject } from '../object/json-values.ts';
import type { CustomVersion } from '../registry/custom.ts';

/** Checks the type that an object states, with Kubernetes' messages. */

/** The expected type of a body. */
export interface Expected {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: MessageSchema;
  readonly types: TypeLibrary;
  /** Other versions of the kind that are read alike. */
  readonly alsoFrom?: readonly string[] | undefined;
  /** For custom resources. */
  readonly custom?: CustomVersion | undefined;
}

const HEAD = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

/** Why the type of a value is unreadable. Undefined: it is readable, or absent (serializer/json, Interpret). */
export function headError(value: JsonValue): string | undefined {
  if (!isObject(value)) return inHead(cannotUnmarshal(value, HEAD));
  for (const field of ['apiVersion', 'kind'] as const) {
    const given = value[field];
    if (given !== undefined && given !== null && typeof given !== 'string')
      return inHead(cannotUnmarshalField(given, `.${field}`, 'string'));
  }
  const { apiVersion } = value;
  return typeof apiVersion === 'string' && apiVersion.split('/').length > 2
    ? `unexpected GroupVersion string: ${nameText(apiVersion)}`
    : undefined;
}

/** The same for text that is not JSON. */
export const inHead = (why: string): string => `couldn't get version/kind; json parse error: ${why}`;

interface DeclaredType {
  /** With the canonical group. */
  readonly apiVersion: string;
  readonly version: string;
  readonly kind: string;
}

/** Absent parts default to those of the path. */
export function declaredType(value: JsonObject, expected: Expected): DeclaredType {
  // A group may be empty: /v1 is v1.
  const given = nameText(value.apiVersion).replace(/^\//, '');
  const apiVersion = given === '' ? toApiVersion(expected) : canonicalApiVersion(given);
  return {
    apiVersion,
    version: apiVersion.slice(apiVersion.indexOf('/') + 1),
    kind: nameText(value.kind) || expected.kind,
  };
}

/** Truncates a name from a client to the longest valid length, because messages repeat it. */
export const nameText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? cutAfter(value, MAX_NAME_LETTERS) : '';

/** `other-version`: the object is of another version of the same kind. */
interface Mismatch {
  readonly kind: 'other-version' | 'other-type';
  readonly why: string;
}

/** Undefined: the object has the expected type. */
export function mismatchOf(declared: DeclaredType, expected: Expected): Mismatch | undefined {
  const { apiVersion, kind } = declared;
  const wanted = toApiVersion(expected);
  const isKnown = apiVersion === wanted || expected.alsoFrom?.includes(apiVersion) === true;
  if (kind === expected.kind && isKnown) return undefined;
  const name = typeName(apiVersion, kind, expected.types);
  if (name === undefined || !expected.types.message(name).typed) {
    const why = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "${SCHEME}"`;
    return { kind: 'other-type', why };
  }
  const [from, to] = [internalName(name, kind), internalName(expected.schema.name, expected.kind)];
  if (from === to) return { kind: 'other-version', why: otherVersion(apiVersion, wanted) };
  return {
    kind: 'other-type',
    why: `converting (${declared.version}.${kind}) to (${to}): unknown conversion`,
  };
}

type CustomMismatch =
  | { readonly kind: 'no-kind'; readonly why: string }
  | { readonly kind: 'other-version'; readonly why: string }
  | { readonly kind: 'other-kind' };

/**
 * The same for a custom resource, whose objects must state their type. No type table has their kind: it is validated as a
 * field.
 */
export function customMismatchOf(value: JsonObject, expected: Expected): CustomMismatch | undefined {
  const wanted = toApiVersion(expected);
  if (value.kind === expected.kind && value.apiVersion === wanted) return undefined;
  if (nameText(value.kind) === '') return { kind: 'no-kind', why: "Object 'Kind' is missing" };
  const given = nameText(value.apiVersion);
  return given === wanted
    ? { kind: 'other-kind' }
    : { kind: 'other-version', why: otherVersion(given, wanted) };
}

/** registry/customresource/validator.go, ValidateTypeMeta */
export function wrongType(field: 'kind' | 'apiVersion', value: JsonObject, expected: Expected): StatusError {
  const kind = nameText(value.kind);
  const name = isObject(value.metadata) ? nameText(value.metadata.name) : '';
  const right = field === 'kind' ? expected.kind : toApiVersion(expected);
  const error = invalidValue(field, nameText(value[field]), `must be ${right}`);
  return invalid({ kind, group: expected.group }, name, [error]);
}

const otherVersion = (given: string, wanted: string): string =>
  `the API version in the data (${given}) does not match the expected API version (${wanted})`;

/** The line where kube-apiserver creates its type table; part of its messages. */
const SCHEME = 'pkg/api/legacyscheme/scheme.go:30';

/** `apps/v1.Deployment` → `apps.Deployment`. Events of both groups are one type. */
function internalName(type: string, kind: string): string {
  const folder = type.slice(0, type.indexOf('/'));
  return `${folder === 'events' ? 'core' : folder}.${kind}`;
}

/**
 * Messages for a body of the wrong type, in Kubernetes' words (endpoints/handlers/rest.go, transformDecodeError). They begin
 * with the type of the body, or with the body where it states none.
 */

/** The type of a path or of a body. */
interface Named {
  readonly version: string;
  readonly kind: string;
}

export function unreadable(given: Named, { kind }: Named, why: string): StatusError {
  const version = JSON.stringify(given.version);
  return badRequest(`${given.kind} in version ${version} cannot be handled as a ${kind}: ${why}`);
}

/** For a body without kind; the message contains the body. */
export function withoutKind(expected: Named, why: string, body: Buffer): StatusError {
  const text = cutAfter(body.toString('utf8', 0, MAX_BODY_SHOWN), MAX_BODY_SHOWN - 1);
  return unrecognized(expected, `${why} in '${text}'`, body);
}

const MAX_BODY_SHOWN = 4096;

/** `why`: the error that occurred before the type was known. */
export function unrecognized({ kind }: Named, why: string, body: Buffer): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(body)})`,
  );
}

const SUMMARY_BYTES = 30;
const OPEN_OBJECT = 0x7b;

/** JSON as it is, anything else in hexadecimal. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const beginning = body.subarray(0, SUMMARY_BYTES).toString(body[0] === OPEN_OBJECT ? 'utf8' : 'hex');
  return body.length > SUMMARY_BYTES ? `${beginning} ...` : beginning;
}
