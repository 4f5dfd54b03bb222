import type { GroupResource } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { decodeObject } from '../codec/decode.ts';
import { decodeEnvelope, encodeEnvelope } from '../codec/protobuf/envelope.ts';
import { parseStored, toStoredJson } from '../codec/stored-object.ts';
import { fromStoredYaml, toStoredYaml } from '../codec/stored-yaml.ts';
import type { ObjectKey } from './key.ts';
import { JSON_MEDIA_TYPE, type ObjectEncoding } from './object-encoding.ts';
import type { EncodedBytes } from './revision-log.ts';

const YAML_MEDIA_TYPE = 'application/yaml';
const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

/** The forms in which objects can be stored. */
export type StoredMediaType = typeof JSON_MEDIA_TYPE | typeof YAML_MEDIA_TYPE | typeof PROTOBUF_MEDIA_TYPE;

interface MediaTypeOptions {
  /** The media type of objects that are written from now on. */
  readonly mediaType: StoredMediaType;
  /** Returns the stored type of a built-in resource; undefined for any other, which is always stored as JSON. */
  readonly schemaOf: (resource: GroupResource) => MessageSchema | undefined;
}

/** MediaTypeEncoding writes objects in the media type of --storage-media-type, and reads every one. */
export class MediaTypeEncoding implements ObjectEncoding {
  readonly #mediaType: StoredMediaType;
  readonly #schemaOf: MediaTypeOptions['schemaOf'];

  constructor({ mediaType, schemaOf }: MediaTypeOptions) {
    this.#mediaType = mediaType;
    this.#schemaOf = schemaOf;
  }

  encode(key: ObjectKey, plain: EncodedBytes): EncodedBytes {
    const mediaType = this.#mediaType;
    if (mediaType === JSON_MEDIA_TYPE || plain.mediaType !== JSON_MEDIA_TYPE) return plain;
    const schema = this.#schemaOf(key);
    if (schema === undefined) return plain;
    const bytes =
      mediaType === YAML_MEDIA_TYPE
        ? toStoredYaml(plain.bytes)
        : encodeEnvelope(parseStored(plain.bytes), schema);
    return { bytes, mediaType };
  }

  handles(mediaType: string): boolean {
    return mediaType === YAML_MEDIA_TYPE || mediaType === PROTOBUF_MEDIA_TYPE;
  }

  decode(key: ObjectKey, { bytes, mediaType }: EncodedBytes): EncodedBytes {
    if (mediaType === YAML_MEDIA_TYPE) return { bytes: fromStoredYaml(bytes), mediaType: JSON_MEDIA_TYPE };
    const schema = this.#schemaOf(key);
    if (schema === undefined) throw new Error(`it is stored as ${mediaType}, and its type is not known`);
    const { object } = decodeObject(decodeEnvelope(bytes, schema), schema);
    // The envelope holds an object of that type.
    return { bytes: toStoredJson(object as ApiObject), mediaType: JSON_MEDIA_TYPE };
  }

  formOf(resource: GroupResource, mediaType: string): string {
    const isChanged = mediaType === JSON_MEDIA_TYPE && this.#mediaType !== JSON_MEDIA_TYPE;
    return isChanged && this.#schemaOf(resource) !== undefined ? this.#mediaType : mediaType;
  }
}
