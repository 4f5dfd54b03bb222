import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Store } from '../storage/store.ts';
import type { Steps } from '../util/concurrency.ts';

export interface CustomDecodeOptions {
  /** Nothing else uses the value, so that it may be changed. */
  readonly fresh?: boolean | undefined;
  /**
   * A null that the schema does not allow stays, for validation to refuse. Elsewhere it counts as an absent value. Server-side apply
   * merges values that were never a body, and leaves a null where it took all fields of a struct.
   */
  readonly keepsNulls?: boolean | undefined;
}

/**
 * What a version of a custom resource has in place of a type in the IDL and of conversions that the server knows. Each served
 * version is a ResourceDefinition of its own: all work on an object is done in the version of the request, as in Kubernetes
 * (apiextensions-apiserver, customresource_handler.go), and other versions meet it only where it is stored.
 */
export interface CustomVersion {
  /** The definition's name, such as `widgets.example.com`. */
  readonly definitionName: string;
  /** Two versions with the same digest are published alike: it changes with the definition, and with nothing else. */
  readonly digest: string;
  /** What clients of a deprecated version are told. */
  readonly deprecation: string | undefined;
  /** The version that is stored; '' while that one is not served. */
  readonly storedVersion: string;
  /** The definition is being deleted: nothing is created any more. */
  readonly isEnding: boolean;
  /** For publication: parsed for each who asks, and kept by nobody; undefined for one that has none (stored by other programs). */
  schema(): JSONSchemaProps | undefined;
  /** The same as ownership of fields needs it. */
  message(): MessageSchema;
  /**
   * An object of a body, or of what was made of one: metadata typed, fields that the schema does not have dropped, and named in
   * `unknown`. What is absent has its default.
   * @throws DecodeError
   */
  decode(
    value: JsonObject,
    options: CustomDecodeOptions,
  ): { readonly object: JsonObject; readonly unknown: readonly string[] };
  /**
   * Everything that is wrong with an object by its schema and its rules. `old`: what it is on an update. `warn` is told of what is
   * wrong and may stay so.
   */
  validate(object: ApiObject, old: ApiObject | undefined, warn: (text: string) => void): Steps<FieldError[]>;
  /** The same for a write of the status alone, which answers for the status and not for what others wrote. */
  validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]>;
  /**
   * An object of any version of the resource in this one, as admission shows it to those that asked for this version: converted and
   * nothing else. The object itself where it has the version.
   * @throws StatusError when a webhook does not convert it
   */
  from(object: ApiObject): ApiObject | Promise<ApiObject>;
  /** The same for several, in their order, with one question. */
  fromAll(objects: readonly ApiObject[]): readonly ApiObject[] | Promise<readonly ApiObject[]>;
  /** The stored form of an object that was just written, as a reader of this version is shown it. */
  readBack(json: Buffer): Promise<Buffer>;
  /** The store, whose objects are read and written in this version. */
  through(store: Store): Store;
}

/** Stands where a built-in resource names its type in the IDL. */
export const CUSTOM_TYPE = 'custom';

interface MaybeCustom {
  readonly custom?: CustomVersion | undefined;
}

/** The schema of a resource's own objects, whose IDL name is `type` if it is built in. */
export const messageOf = ({ custom }: MaybeCustom, type: string, types: TypeLibrary): MessageSchema =>
  custom === undefined ? types.message(type) : custom.message();

/** The store as the resource's objects are read from it and written to it. */
export const storeOf = ({ custom }: MaybeCustom, store: Store): Store =>
  custom === undefined ? store : custom.through(store);
