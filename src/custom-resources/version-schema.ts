import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import { type Decoded, decodeObject } from '../codec/decode.ts';
import type { Steps } from '../util/concurrency.ts';

/** The schema of one version at work on objects. All that is made of it goes with it. */
export class VersionSchema {
  readonly schema: JSONSchemaProps;
  readonly #types: TypeLibrary;

  constructor(schema: JSONSchemaProps, types: TypeLibrary) {
    this.schema = schema;
    this.#types = types;
  }

  message(): MessageSchema {
    return this.#types.message('meta/v1.PartialObjectMetadata');
  }

  /** A body as an object: see CustomVersion. @throws DecodeError */
  decode(value: JsonObject): Decoded {
    const { kind, apiVersion, metadata, ...rest } = value;
    const typed = decodeObject({ kind, apiVersion, metadata }, this.message());
    const object = { ...typed.object, ...rest };
    return { object, unknown: typed.unknown };
  }

  /** Drops fields that the schema does not have, and gives absent ones their defaults. Changes `object`. */
  normalize(_object: JsonObject): void {}

  /** Drops fields that the schema does not have. Changes `object`. */
  prune(_object: JsonObject): void {}

  *validate(_object: ApiObject, _old: ApiObject | undefined): Steps<FieldError[]> {
    return [];
  }
}
