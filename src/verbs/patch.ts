import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, invalid, StatusError, unknownError } from '../api/status.ts';
import { conversionError } from '../codec/conversion-error.ts';
import { cannotUnmarshal, cannotUnmarshalField } from '../codec/decode-error.ts';
import { type ParsedDocument, parseJsonText } from '../codec/json-text.ts';
import { unsupportedMediaType } from '../codec/negotiate.ts';
import { invalidValue } from '../object/field-errors.ts';
import { cutAfter, goPlain, MAX_NAME_LETTERS } from '../object/go-value.ts';
import { applyJsonPatch } from '../object/json-patch.ts';
import { isObject } from '../object/json-values.ts';
import { applyMergePatch, applyStrategicMerge } from '../object/merge-patch.ts';
import { mergedJson, operatedJson, PatchError } from '../object/patch-error.ts';
import { withoutWritten } from '../object/written-number.ts';
import { toSeen, toStorage } from '../registry/conversion.ts';
import { readForChange } from '../registry/resource-definition.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { table } from '../util/text-table.ts';
import { inOwnTurn, isLarge } from '../util/turns.ts';
import { APPLY_CBOR, APPLY_PATCH, apply } from './apply.ts';
import { MAX_BODY_BYTES, type Refusal, toObject } from './body.ts';
import { type Expected, wrongType } from './declared-type.ts';
import {
  checkNameMatches,
  type FieldValidation,
  type MutationOptions,
  readMutationOptions,
} from './mutation-options.ts';
import { formFor, objectResponse } from './read.ts';
import { bodyType, hasOwnType, toWriteCall, type VerbCall } from './verb-call.ts';
import type { Change } from './writing/change.ts';

export async function patch(call: VerbCall): Promise<ApiResponse> {
  const { context, request } = call;
  const type = contentTypeOf(request);
  if (type === APPLY_PATCH || (type === APPLY_CBOR && request.knowsCbor === true)) return apply(call);
  const form = formFor(call);
  const kind = chooseKind(call);
  const options = readMutationOptions(request, 'PatchOptions');
  const read = kind.read(await request.body(MAX_BODY_BYTES), options.fieldValidation);
  request.audit?.requestBody(read.value);
  const change = patchChange({ call, expected: bodyType(call), kind, read, options });
  const written = await context.writer.update(toWriteCall(call, options), request.target.name, change);
  return objectResponse(form, 200, written);
}

/** Kubernetes' routes of built-in resources refuse other types before anything reads the request. */
const noRoute = (): StatusError =>
  new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });

/** @throws StatusError 415 */
function chooseKind({ request, served }: VerbCall): PatchKind {
  const isCustom = served.definition.custom !== undefined;
  const kinds = isCustom ? CUSTOM_PATCH_KINDS : PATCH_KINDS;
  const kind = kinds[contentTypeOf(request)];
  if (kind !== undefined) return kind;
  if (!isCustom) throw noRoute();
  const applying = request.knowsCbor === true ? [APPLY_PATCH, APPLY_CBOR] : [APPLY_PATCH];
  throw unsupportedMediaType([...Object.keys(kinds), ...applying]);
}

function contentTypeOf({ headers }: AuthorizedResourceRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

interface PatchCall {
  readonly call: VerbCall;
  readonly expected: Expected;
  readonly kind: PatchKind;
  readonly read: ReadPatch;
  readonly options: MutationOptions;
}

/** Applies the patch to the object as the client sees it: in its version and view. */
function patchChange(patching: PatchCall): Change {
  const { served, view, request } = patching.call;
  const own = hasOwnType(patching.call);
  const apply = async (copy: ApiObject): Promise<ApiObject> => {
    const before = own ? toSeen(copy, served) : view === undefined ? copy : readForChange(view, copy);
    // Objects of converted kinds and versions share no parts with the stored object.
    const known = own && served.version.conversion === undefined ? { known: before } : {};
    const value = applyTo(before, patching);
    const large = isLarge(request.receivedBytes);
    const patched = await inOwnTurn(large, () => decodePatched(value, known, patching));
    checkNameMatches(patched.metadata.name, request.target.name);
    return own ? toStorage(patched, served) : patched;
  };
  // Only this checks the uid of a patched scale.
  const uidIs = own ? 'field' : 'precondition';
  return view === undefined ? { kind: 'object', apply, uidIs } : { kind: 'view', view, apply, uidIs };
}

function applyTo(before: ApiObject, { kind, read, expected }: PatchCall): JsonValue {
  try {
    return kind.apply(before, read.written?.() ?? read.value, expected.schema);
  } catch (error) {
    throw error instanceof PatchError ? toPatchStatus(error) : error;
  }
}

/** @throws StatusError 422 when the result is not an object of its type */
function decodePatched(
  result: JsonValue,
  known: { readonly known?: JsonObject },
  { call, expected, options, kind, read }: PatchCall,
): ApiObject {
  const explain = (why: string): Explanation => kind.explain(result, read.value, why, expected.schema);
  const refusal: Refusal = (why, given) => {
    if (given === 'no-kind') return invalidPatch(explain(`${why} in '${explain(why).value}'`));
    const isJudged = given === 'other-version' && expected.custom !== undefined && isObject(result);
    return isJudged ? wrongType('apiVersion', result, expected) : invalidPatch(explain(why));
  };
  const plain = expected.custom === undefined || read.written === undefined ? result : withoutWritten(result);
  const value = kind.keepsType && isObject(plain) ? withTypeOf(plain, expected) : plain;
  const { problems, ...asRead } = read;
  const document = { ...asRead, value, ...known, duplicates: [], problems, refusal };
  return toObject(call.request, document, expected, options.fieldValidation);
}

/** Leaves values that are not text for decoding to refuse. */
function withTypeOf(result: JsonObject, { group, version, kind }: Expected): JsonObject {
  const given = result.kind;
  const apiVersion = toApiVersion({ group, version });
  return {
    ...result,
    ...(typeof given === 'string' ? { kind } : {}),
    ...(typeof result.apiVersion === 'string' ? { apiVersion } : {}),
  };
}

const NO_KIND = { kind: '', group: '' };

const invalidPatch = ({ value, why }: Explanation): StatusError =>
  invalid(NO_KIND, '', [invalidValue('patch', value, why)]);

/** Reports an error of the patch with its details; one of its application in one sentence, as Kubernetes does. */
function toPatchStatus(error: PatchError): StatusError {
  switch (error.kind) {
    case 'malformed':
      return badRequest(error.message);
    case 'too-many':
      return new StatusError({
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: `Request entity too large: ${error.message}`,
      });
    case 'inapplicable':
      return new StatusError(
        {
          code: 422,
          reason: 'Invalid',
          message: 'the server rejected our request due to an error in our request',
          details: {},
        },
        { cause: error },
      );
    case 'unmergeable':
      return unknownError(error.message, error);
    default:
      return error.kind satisfies never;
  }
}

/**
 * The three kinds of patches, with their messages for unreadable patches and invalid results (Kubernetes:
 * endpoints/handlers/patch.go). Strict validation checks a patch before it is applied, with other messages.
 */
interface PatchKind {
  /** @throws StatusError 400 */
  read(bytes: Buffer, validation: FieldValidation): ReadPatch;
  /** @throws PatchError */
  apply(object: JsonObject, patch: JsonValue, schema: MessageSchema): JsonValue;
  /** What an answer shows of an invalid result, and its reason. */
  explain(result: JsonValue, patch: JsonValue, why: string, schema: MessageSchema): Explanation;
  /** The type of the object stays, also when the patch sets another. */
  readonly keepsType: boolean;
}

interface ReadPatch {
  readonly value: JsonValue;
  /** Present when a number has a point or an exponent, for kinds of patches that distinguish `1.0` from `1`. */
  readonly written?: () => JsonValue;
  /** Problems for strict validation. */
  readonly problems: readonly string[];
}

interface Explanation {
  /** The beginning of the invalid value. */
  readonly value: string;
  readonly why: string;
}

/** A result may be megabytes; its beginning identifies it. */
const MAX_LETTERS = 64 * 1024;

const MAP = 'map[string]interface {}';
const NO_MERGE_PATCH = 'Invalid JSON Patch';

const decoding = (why: string): StatusError => badRequest(`error decoding patch: ${why}`);

/** @throws StatusError */
function parse(bytes: Buffer, refusal: (why: string) => StatusError): ParsedDocument {
  try {
    return parseJsonText(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal(error.message);
    throw error;
  }
}

const duplicatesIn = ({ duplicates }: ParsedDocument): string[] =>
  duplicates.map((path) => `duplicate field "${path}"`);

/** Merge and JSON patches apply to JSON text, strategic merge patches to numbers. */
const writtenIn = ({ written }: ParsedDocument): Pick<ReadPatch, 'written'> =>
  written === undefined ? {} : { written };

const merge: PatchKind = {
  keepsType: false,
  read: (bytes, validation) => {
    const lenient = validation === 'Ignore';
    const document = parse(bytes, lenient ? () => badRequest(NO_MERGE_PATCH) : decoding);
    const { value } = document;
    if (isObject(value)) return { value, ...writtenIn(document), problems: duplicatesIn(document) };
    if (value === null || (lenient && !Array.isArray(value))) throw badRequest(NO_MERGE_PATCH);
    if (!lenient) throw decoding(cannotUnmarshal(value, MAP));
    return { value, problems: [] };
  },
  apply: applyMergePatch,
  explain: (result, patch, why) => ({ value: mergedJson(result, patch, MAX_LETTERS), why }),
};

const strategic: PatchKind = {
  keepsType: true,
  read: (bytes) => {
    const document = parse(bytes, badRequest);
    const value = document.value ?? {};
    if (!isObject(value)) throw badRequest(cannotUnmarshal(value, MAP));
    return { value, problems: duplicatesIn(document) };
  },
  apply: (object, patch, schema) => applyStrategicMerge(object, isObject(patch) ? patch : {}, schema),
  explain: (result, patch, why, schema) => ({
    value: goPlain(patch, MAX_LETTERS),
    why: conversionError(result, schema) ?? why,
  }),
};

const operations: PatchKind = {
  keepsType: false,
  read: (bytes, validation) => {
    const lenient = validation === 'Ignore';
    const document = parse(bytes, lenient ? badRequest : decoding);
    const value = document.value ?? [];
    const error = lenient ? lenientListError(value) : listError(value);
    if (error !== undefined) throw lenient ? badRequest(error) : decoding(error);
    const problems = [...unknownFields(value), ...duplicatesIn(document)].map((text) => `json patch ${text}`);
    return { value, ...writtenIn(document), problems };
  },
  apply: applyJsonPatch,
  explain: (result, patch, why) => ({ value: operatedJson(result, patch, MAX_LETTERS), why }),
};

const isNoOperation = (value: JsonValue): boolean => value !== null && !isObject(value);

function lenientListError(list: JsonValue): string | undefined {
  if (!Array.isArray(list)) return cannotUnmarshal(list, 'jsonpatch.Patch');
  const wrong = list.find(isNoOperation);
  return wrong === undefined ? undefined : cannotUnmarshal(wrong, 'jsonpatch.Operation');
}

const OPERATION = 'jsonPatchOp';
const TEXTS = ['op', 'path', 'from'];
const FIELDS: ReadonlySet<string> = new Set([...TEXTS, 'value']);

function listError(list: JsonValue): string | undefined {
  if (!Array.isArray(list)) return cannotUnmarshal(list, `[]handlers.${OPERATION}`);
  for (const operation of list) {
    if (isNoOperation(operation)) return cannotUnmarshal(operation, `handlers.${OPERATION}`);
    if (!isObject(operation)) continue;
    for (const field of TEXTS) {
      const value = operation[field] ?? '';
      if (typeof value !== 'string') return cannotUnmarshalField(value, `${OPERATION}.${field}`, 'string');
    }
  }
  return undefined;
}

/** Enough warnings to find the cause. */
const MAX_UNKNOWN = 100;

function unknownFields(list: JsonValue): string[] {
  const found: string[] = [];
  for (const [at, operation] of Array.isArray(list) ? list.entries() : []) {
    if (!isObject(operation)) continue;
    for (const field of Object.keys(operation)) {
      if (FIELDS.has(field)) continue;
      found.push(`unknown field "[${at}].${cutAfter(field, MAX_NAME_LETTERS)}"`);
      if (found.length >= MAX_UNKNOWN) return found;
    }
  }
  return found;
}

const PATCH_KINDS: Readonly<Record<string, PatchKind>> = table({
  'application/json-patch+json': operations,
  'application/merge-patch+json': merge,
  'application/strategic-merge-patch+json': strategic,
});

/** Definitions have no strategic merge keys. */
const CUSTOM_PATCH_KINDS: Readonly<Record<string, PatchKind>> = table({
  'application/json-patch+json': operations,
  'application/merge-patch+json': merge,
});
