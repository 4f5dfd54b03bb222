import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { badRequest, type StatusError } from '../api/status.ts';
import { conversionError } from '../codec/conversion-error.ts';
import { cannotUnmarshal, cannotUnmarshalField } from '../codec/decode-error.ts';
import { type ParsedDocument, parseJsonText } from '../codec/json-text.ts';
import { cutAfter, goPlain, MAX_NAME_LETTERS } from '../object/go-plain.ts';
import { applyJsonPatch } from '../object/json-patch.ts';
import { applyMergePatch, isObject } from '../object/merge-patch.ts';
import { mergedJson, operatedJson } from '../object/patched-json.ts';
import { applyStrategicMerge } from '../object/strategic-merge.ts';
import { table } from '../util/table.ts';
import type { FieldValidation } from './mutation-options.ts';

/**
 * The three kinds of patches, and what each says of a patch that cannot be read and of a result that is no object
 * (Kubernetes: endpoints/handlers/patch.go). A strict reader looks at a patch before it is applied and so finds other words.
 */
export interface PatchKind {
  /** @throws StatusError 400 */
  read(bytes: Buffer, validation: FieldValidation): ReadPatch;
  /** @throws PatchError */
  apply(object: JsonObject, patch: JsonValue, schema: MessageSchema): JsonValue;
  /** What an answer shows of a result that is no object of its type, and how it says why. */
  explain(result: JsonValue, patch: JsonValue, why: string, schema: MessageSchema): Explanation;
  /** The type of the object stays, whatever the patch says. */
  readonly keepsType: boolean;
}

export interface ReadPatch {
  readonly value: JsonValue;
  /** What a strict reader minds. */
  readonly problems: readonly string[];
}

export interface Explanation {
  /** The beginning of the value that is invalid. */
  readonly value: string;
  readonly why: string;
}

/** A result may be megabytes; its first part is enough to recognize it. */
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

const merge: PatchKind = {
  keepsType: false,
  read: (bytes, validation) => {
    const lenient = validation === 'Ignore';
    const document = parse(bytes, lenient ? () => badRequest(NO_MERGE_PATCH) : decoding);
    const { value } = document;
    if (isObject(value)) return { value, problems: duplicatesIn(document) };
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
    return { value, problems };
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

/** Further warnings would tell nothing new. */
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

export const PATCH_KINDS: Readonly<Record<string, PatchKind>> = table({
  'application/json-patch+json': operations,
  'application/merge-patch+json': merge,
  'application/strategic-merge-patch+json': strategic,
});
