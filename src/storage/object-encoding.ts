import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { EncodedBytes } from './revision-log.ts';

/** The stored form itself, for which the database has a column of its own. */
export const JSON_MEDIA_TYPE = 'application/json';

/**
 * One step between the stored form of objects and what the database has of them. A write passes all steps in their order, a row
 * those that know its media type, until it is JSON. Answers at once where it can: most of a list is decoded in turns of a few
 * milliseconds, and only what is waited for (a key) is awaited.
 */
export interface ObjectEncoding {
  /** @throws Error, one line that says why the object cannot be stored like this */
  encode(key: ObjectKey, bytes: EncodedBytes): EncodedBytes | Promise<EncodedBytes>;
  /** Whether it is what `encode` answers. */
  handles(mediaType: string): boolean;
  /** @throws Error, one line that says why the bytes cannot be read */
  decode(key: ObjectKey, bytes: EncodedBytes): EncodedBytes | Promise<EncodedBytes>;
  /** Why objects that come in this media type, in the end JSON, are not to be read without this step. Undefined: they may. */
  refuses?(resource: GroupResource, mediaType: string): string | undefined;
  /** The media type of what `encode` would make now of bytes of this one; undefined: that is not known. */
  formOf(resource: GroupResource, mediaType: string): string | undefined;
}

/** What cannot be encoded or decoded now, because whoever has the key does not answer, and may be later. The message is one line. */
export class EncodingUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EncodingUnavailable';
  }
}
