import type { ApiObject, JsonObject, ObjectMeta } from '../api/object-meta.ts';
import { copyJson } from '../object/equality.ts';
import { hasLongInteger, parseExactly, parseJsonBytes, parsePlainly } from '../object/exact-json.ts';
import { findMetadata } from './metadata-scan.ts';
import { cutSets, putSets, stringify } from './stored-sets.ts';

/**
 * The stored form of an object: canonical JSON that begins `{"kind":"Pod","apiVersion":"v1","metadata":{` and has no
 * resourceVersion, because that is the id of the row. A response needs the resourceVersion, and perhaps another apiVersion;
 * both are in the head, so they are put in front of the unchanged rest without parsing anything.
 *
 *   stored   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",…
 *   spliced  {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"42","name":"web",…
 */

export function toStoredJson(object: ApiObject): Buffer {
  return Buffer.from(stringify(isAsStored(object) ? object : asStored(object)));
}

/** As decoding makes them, and nearly every object is when it is written: then nothing is copied. */
function isAsStored(object: ApiObject): boolean {
  if (object.metadata.resourceVersion !== undefined) return false;
  let at = 0;
  for (const key in object) {
    if (key !== FIRST_FIELDS[at]) return false;
    at += 1;
    if (at === FIRST_FIELDS.length) return true;
  }
  return false;
}

const FIRST_FIELDS = ['kind', 'apiVersion', 'metadata'];

function asStored(object: ApiObject): ApiObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata;
  return { kind, apiVersion, metadata: kept, ...rest };
}

/**
 * A new object, the caller's own but for the sets in its managedFields: others have them too, and nobody can change them.
 * `T` is the stored type of the resource that the bytes are of.
 */
export function parseStored<T extends ApiObject = ApiObject>(json: Buffer, resourceVersion?: string): T {
  const object = (parseCut(json) ?? parseJsonBytes(json)) as T;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  return object;
}

/** The metadata alone: half of a pod, and nothing else is parsed. A new object, the caller's own. */
export function parseStoredMetadata(json: Buffer, end: number, resourceVersion: string): ObjectMeta {
  const metadata = parseJsonBytes(json.subarray(findMetadata(json), end)) as ObjectMeta;
  if (resourceVersion !== '') metadata.resourceVersion = resourceVersion;
  return metadata;
}

/** What follows the metadata. */
export function parseStoredRest(json: Buffer, metadataEnd: number): JsonObject {
  const hasMore = json[metadataEnd] === COMMA;
  return hasMore ? (parseJsonBytes(Buffer.concat([OPEN, json.subarray(metadataEnd + 1)])) as JsonObject) : {};
}

const COMMA = 0x2c;
const OPEN = Buffer.from('{');

function parseCut(json: Buffer): ApiObject | undefined {
  const cut = cutSets(json.toString());
  if (cut === undefined) return undefined;
  const object = (hasLongInteger(json) ? parseExactly(cut.text) : parsePlainly(cut.text)) as ApiObject;
  return putSets(object, cut.sets) ? object : undefined;
}

/** A copy of a stored object, the caller's own as that is. */
export function copyStored(object: ApiObject): ApiObject {
  const { managedFields } = object.metadata;
  if (managedFields === undefined) return copyJson(object);
  const rest: ApiObject = { ...object, metadata: { ...object.metadata, managedFields: [] } };
  const copy = copyJson(rest);
  copy.metadata.managedFields = managedFields.map((entry) => ({ ...entry }));
  return copy;
}

export interface Head {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Writes heads for one kind: how long the stored one is, and what replaces it. */
export class HeadSplicer {
  /** How many bytes of the stored form the head replaces. */
  readonly storedLength: number;
  readonly #prefix: string;

  /** `stored` is what the bytes carry, `shown` what the response is to say; undefined where its list says it. */
  constructor(stored: Head, shown: Head | undefined) {
    this.storedLength = Buffer.byteLength(toText(stored));
    this.#prefix = shown === undefined ? '{"metadata":{' : toText(shown);
  }

  /**
   * Bytes to send instead of the first {@link storedLength} bytes of the stored form; ASCII. An object without a version is
   * one that a dry run made.
   */
  head(resourceVersion: string): string {
    return resourceVersion === '' ? this.#prefix : `${this.#prefix}"resourceVersion":"${resourceVersion}",`;
  }

  /** Length of {@link head} for a version of so many digits. */
  headLength(digits: number): number {
    return this.#prefix.length + '"resourceVersion":"",'.length + digits;
  }
}

/** Kinds and versions are ASCII identifiers; nothing in them needs escaping. */
function toText({ kind, apiVersion }: Head): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{`;
}
