import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { EncodedBytes } from './revision-log.ts';

/** The stored form itself, which has a column of its own in the database. */
export const JSON_MEDIA_TYPE = 'application/json';

/**
 * ObjectEncoding is one step between an object's stored form and its bytes in the database. A write passes all steps in order, a
 * row those that know its media type, until it is JSON. A step returns at once where it can: most of a list is decoded in turns of
 * a few milliseconds, and only a missing key is awaited.
 */
export interface ObjectEncoding {
  /** @throws Error, one line that says why the object cannot be stored like this */
  encode(key: ObjectKey, bytes: EncodedBytes): EncodedBytes | Promise<EncodedBytes>;
  /** Whether `decode` takes this media type. */
  handles(mediaType: string): boolean;
  /** @throws Error, one line that says why the bytes cannot be read */
  decode(key: ObjectKey, bytes: EncodedBytes): EncodedBytes | Promise<EncodedBytes>;
  /** Why objects of this media type, in the end JSON, must not be read without this step. Undefined: they may. */
  refuses?(resource: GroupResource, mediaType: string): string | undefined;
  /** The media type that `encode` would now make of this one; undefined when unknown. */
  formOf(resource: GroupResource, mediaType: string): string | undefined;
}

/** Thrown when an object cannot be encoded or decoded now because the key's holder does not respond. The message is one line. */
export class EncodingUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EncodingUnavailable';
  }
}
