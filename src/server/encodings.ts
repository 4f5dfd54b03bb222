import type { Minor } from '../api/emulation.ts';
import { loadTypes, type TypeLibrary } from '../api/idl/types.ts';
import type { StorageOptions } from '../options/storage.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { MediaTypeEncoding } from '../storage/media-type-encoding.ts';
import type { ObjectEncoding } from '../storage/object-encoding.ts';
import { storedTypesIn } from './built-in-names.ts';

interface EncodingWish {
  readonly emulated: Minor;
  readonly mediaType: StorageOptions['mediaType'];
  /** Undefined: objects are not encrypted. */
  readonly encryption: EncryptionFile | undefined;
}

/** The forms in which objects are stored, in the order of writes. */
export function createEncodings({
  emulated,
  mediaType,
  encryption,
}: EncodingWish): readonly ObjectEncoding[] {
  const typeOf = storedTypesIn(emulated);
  let types: TypeLibrary | undefined;
  const mediaTypes = new MediaTypeEncoding({
    mediaType,
    schemaOf: (resource) => {
      const type = typeOf(resource);
      if (type === undefined) return undefined;
      // Stored protobuf may have fields of a newer version than the emulated one.
      types ??= loadTypes('all');
      return types.message(type);
    },
  });
  return [mediaTypes, ...(encryption === undefined ? [] : [encryption.encoding])];
}
