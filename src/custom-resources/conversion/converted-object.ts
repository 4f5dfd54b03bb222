import type { ApiObject, JsonObject, JsonValue, ObjectMeta } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { cannotUnmarshal } from '../../codec/decode-error.ts';
import { cutAfter, goTypeOf } from '../../object/go-value.ts';
import { isObject, objectAt, setField } from '../../object/json-values.ts';
import { addAnnotations, addLabels } from '../../object/validate-metadata.ts';

/**
 * Checks an object that a webhook returned for the original in another version. A webhook may change labels and annotations of
 * the metadata, and nothing else in it (apiextensions-apiserver, apiserver/conversion/webhook_converter.go, also for the
 * texts).
 */

/** `object`: has a kind. @throws Error */
export function readConverted(value: JsonValue): JsonObject {
  if (value === null) throw new Error('unexpected end of JSON input');
  if (!isObject(value)) throw new Error(cannotUnmarshal(value, 'map[string]interface {}'));
  if (typeof value.kind === 'string' && value.kind !== '') return value;
  throw new Error(`Object 'Kind' is missing in '${cutAfter(JSON.stringify(value), MAX_LETTERS)}'`);
}

/** Most characters of an object in a message. */
const MAX_LETTERS = 4096;

/** @throws Error when the object is another or has another version */
export function assertSameType(original: ApiObject, converted: JsonObject, toApiVersion: string): void {
  const apiVersion = groupVersionOf(converted.apiVersion);
  if (apiVersion !== toApiVersion)
    throw new Error(`invalid groupVersion (expected ${toApiVersion}, received ${apiVersion})`);
  const { kind } = converted;
  if (kind !== original.kind)
    throw new Error(`invalid kind (expected ${original.kind}, received ${String(kind)})`);
}

/** An apiVersion with several slashes is invalid. */
const groupVersionOf = (apiVersion: JsonValue | undefined): string =>
  typeof apiVersion === 'string' && apiVersion.split('/').length < 3 ? apiVersion : '';

/** @throws Error */
export function assertSameIdentity({ metadata }: ApiObject, converted: JsonObject): void {
  const given = objectAt(converted, 'metadata');
  for (const [field, title] of IDENTITY) {
    const expected = metadata[field] ?? '';
    const actual = typeof given[field] === 'string' ? given[field] : '';
    if (expected !== actual) throw new Error(`must have the same ${title}: ${expected} != ${actual}`);
  }
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** Returns the converted object with the metadata of the original, except for labels and annotations. @throws Error */
export function withMetadataOf(original: ApiObject, converted: JsonObject): ApiObject {
  const { kind: _kind, apiVersion, metadata: given, ...rest } = converted;
  if (given === undefined) throw new Error('missing metadata in converted object');
  if (!isObject(given)) throw new Error(`invalid metadata of type ${goTypeOf(given)} in converted object`);
  const metadata: ObjectMeta = { ...original.metadata };
  takeTexts(metadata, given, 'labels');
  takeTexts(metadata, given, 'annotations');
  return { kind: original.kind, apiVersion: String(apiVersion), metadata, ...rest };
}

type Changeable = 'labels' | 'annotations';

function takeTexts(metadata: ObjectMeta, given: JsonObject, field: Changeable): void {
  const value = given[field] ?? null;
  if (value === null) {
    delete metadata[field];
    return;
  }
  if (!isObject(value))
    throw new Error(`invalid metadata.${field} of type ${goTypeOf(value)} in converted object`);
  const texts = toTexts(value, field);
  if (!areEqual(texts, metadata[field] ?? {})) assertValid(texts, field);
  metadata[field] = texts;
}

type Texts = Record<string, string>;

function toTexts(value: JsonObject, field: Changeable): Texts {
  const texts: JsonObject & Texts = {};
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') {
      const type = goTypeOf(text);
      throw new Error(`metadata.${field}[${key}] must be a string, but is ${type} in converted object`);
    }
    setField(texts, key, text);
  }
  return texts;
}

const areEqual = (one: Texts, other: Texts): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([key, text]) => Object.hasOwn(other, key) && other[key] === text);

/** @throws Error */
function assertValid(texts: Texts, field: Changeable): void {
  const errors: FieldError[] = [];
  if (field === 'labels') addLabels(errors, texts, 'metadata.labels');
  else addAnnotations(errors, texts, 'metadata.annotation');
  if (errors.length > 0) throw new Error(aggregated(errors));
}

/** Formats errors as Go does (apimachinery, util/errors): each text once. */
function aggregated(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}
