import type { ApiObject, JsonObject, ObjectMeta } from '../api/object-meta.ts';
import { parseJsonBytes } from '../object/exact-json.ts';
import { keptTextOf } from '../object/managed-fields/set-text.ts';
import { findMetadata } from './metadata-scan.ts';

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

/** With the texts that are kept of what owners own: the object is written without these sets, which are then put in. */
function stringify(object: ApiObject): string {
  const { managedFields = [] } = object.metadata;
  const texts: string[] = [];
  const entries = managedFields.map((entry) => {
    const text = keptTextOf(entry.fieldsV1);
    if (text === undefined) return entry;
    texts.push(text);
    return { ...entry, fieldsV1: ELSEWHERE };
  });
  if (texts.length === 0) return JSON.stringify(object);
  const pieces = JSON.stringify({
    ...object,
    metadata: { ...object.metadata, managedFields: entries },
  }).split(GAP);
  return pieces.reduce((before, after, at) => `${before}"fieldsV1":${texts[at - 1]}${after}`);
}

/** No number is ever written like this, and within texts quotes have a backslash before them: GAP is found nowhere else. */
const ELSEWHERE = JSON.rawJSON('-0');
const GAP = '"fieldsV1":-0';

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

/** A new object, the caller's own. */
export function parseStored(json: Buffer, resourceVersion?: string): ApiObject {
  const object = parseJsonBytes(json) as ApiObject;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  return object;
}

/** The metadata alone: half of a pod, and nothing else is parsed. A new object, the caller's own. */
export function parseStoredMetadata(json: Buffer, end: number, resourceVersion: string): ObjectMeta {
  const metadata = parseJsonBytes(json.subarray(findMetadata(json), end)) as ObjectMeta;
  if (resourceVersion !== '') metadata.resourceVersion = resourceVersion;
  return metadata;
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

  /** `stored` is what the bytes carry, `shown` what the response is to say. */
  constructor(stored: Head, shown: Head) {
    this.storedLength = Buffer.byteLength(toText(stored));
    this.#prefix = toText(shown);
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
