import type { ApiObject } from '../api/object-meta.ts';

/**
 * The stored form of an object: canonical JSON that begins `{"kind":"Pod","apiVersion":"v1","metadata":{` and has no
 * resourceVersion, because that is the id of the row. A response needs the resourceVersion, and perhaps another apiVersion;
 * both are in the head, so they are put in front of the unchanged rest without parsing anything.
 *
 *   stored   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",…
 *   spliced  {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"42","name":"web",…
 */

export function toStoredJson(object: ApiObject): Buffer {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = metadata;
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata: kept, ...rest }));
}

/** A new object, the caller's own. */
export function parseStored(json: Buffer, resourceVersion?: string): ApiObject {
  const object = JSON.parse(json.toString()) as ApiObject;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  return object;
}

/** Writes heads for one kind: how long the stored one is, and what replaces it. */
export class HeadSplicer {
  readonly #prefix: string;
  readonly #storedLength: number;

  /** `storedApiVersion` is what the bytes carry, `apiVersion` what the response is to say. */
  constructor(kind: string, storedApiVersion: string, apiVersion: string) {
    this.#storedLength = Buffer.byteLength(headOf(kind, storedApiVersion));
    this.#prefix = headOf(kind, apiVersion);
  }

  /** Bytes to send instead of the first {@link storedLength} bytes of the stored form. */
  head(resourceVersion: string): string {
    return `${this.#prefix}"resourceVersion":"${resourceVersion}",`;
  }

  get storedLength(): number {
    return this.#storedLength;
  }

  /** An object without a version is one that a dry run made. */
  splice(json: Buffer, resourceVersion: string | undefined): Buffer[] {
    const head = resourceVersion === undefined ? this.#prefix : this.head(resourceVersion);
    return [Buffer.from(head, 'latin1'), json.subarray(this.#storedLength)];
  }
}

/** Kinds and versions are ASCII identifiers; nothing in them needs escaping. */
function headOf(kind: string, apiVersion: string): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{`;
}
