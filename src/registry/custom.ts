import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Store } from '../storage/store.ts';
import type { Steps } from '../util/turns.ts';

export interface CustomDecodeOptions {
  /** The value has no other users, so that it may be changed. */
  readonly fresh?: boolean | undefined;
  /**
   * Keeps nulls that the schema forbids, for validation to refuse. Otherwise they count as absent. Server-side apply merges
   * values that were never a body, and leaves null for an emptied struct.
   */
  readonly keepsNulls?: boolean | undefined;
}

/**
 * The type and conversions of a version of a custom resource. Each served version is a ResourceDefinition of its own: all work
 * on an object uses the request's version, as in Kubernetes (apiextensions-apiserver, customresource_handler.go), and only
 * storage translates between versions.
 */
export interface CustomVersion {
  /** The definition's name, such as `widgets.example.com`. */
  readonly definitionName: string;
  /** Equal for versions that are published alike: it changes with the definition only. */
  readonly digest: string;
  /** The warning for clients of a deprecated version. */
  readonly deprecation: string | undefined;
  /** The stored version; '' while it is not served. */
  readonly storedVersion: string;
  /** The definition is being deleted: creation is refused. */
  readonly isEnding: boolean;
  /** For publication: parsed on each call, uncached; undefined without a schema (stored by other programs). */
  schema(): JSONSchemaProps | undefined;
  /** The same for ownership of fields. */
  message(): MessageSchema;
  /**
   * Decodes a body, or a value made from one: types the metadata, drops unknown fields and lists them in `unknown`, sets
   * defaults.
   * @throws DecodeError
   */
  decode(
    value: JsonObject,
    options: CustomDecodeOptions,
  ): { readonly object: JsonObject; readonly unknown: readonly string[] };
  /** Validates an object by its schema and rules. `old`: the object before an update. `warn` receives errors that may stay. */
  validate(object: ApiObject, old: ApiObject | undefined, warn: (text: string) => void): Steps<FieldError[]>;
  /** Validates a write of the status: the status alone, not the rest of the object. */
  validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]>;
  /**
   * Converts an object of any version to this one for admission, without other changes. Returns the same object if it has the
   * version.
   * @throws StatusError when a webhook does not convert it
   */
  from(object: ApiObject): ApiObject | Promise<ApiObject>;
  /** Converts several, in order, with one call. */
  fromAll(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]>;
  /** The stored form of a written object as readers of this version see it. */
  readBack(json: Buffer): Promise<Buffer>;
  /** Wraps the store to read and write this version. */
  through(store: Store): Store;
}

/** Replaces the IDL type of a built-in resource. */
export const CUSTOM_TYPE = 'custom';

interface MaybeCustom {
  readonly custom?: CustomVersion | undefined;
}

/** The schema of a resource's own objects; `type`: the IDL name of a built-in one. */
export const messageOf = ({ custom }: MaybeCustom, type: string, types: TypeLibrary): MessageSchema =>
  custom === undefined ? types.message(type) : custom.message();

/** The store as seen by the resource. */
export const storeOf = ({ custom }: MaybeCustom, store: Store): Store =>
  custom === undefined ? store : custom.through(store);
