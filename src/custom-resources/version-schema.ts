import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { type FieldError, StatusError } from '../api/status.ts';
import type { CustomResourceSubresourceScale, JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Decoded } from '../codec/decode.ts';
import { MAX_PROBLEMS } from '../object/document-limits.ts';
import { problemsOf } from '../object/field-path.ts';
import { setDefaults } from '../structural/defaults.ts';
import { listTypesInSteps } from '../structural/list-types.ts';
import { toMessage } from '../structural/message.ts';
import { coerceEmbedded, coerceMetadata, validateEmbedded } from '../structural/metadata.ts';
import { propertyOf } from '../structural/node.ts';
import { prune } from '../structural/prune.ts';
import { compileRules, hasRules, type RunOptions } from '../structural/rules/rules.ts';
import { validateInSteps } from '../structural/validate.ts';
import type { Steps } from '../util/concurrency.ts';
import { validateScaleSpec, validateScaleStatus } from './scale.ts';

export interface SchemaParts {
  readonly types: TypeLibrary;
  /** Feature gate CRDValidationRatcheting: what was wrong before an update, and did not change, may stay so. */
  readonly ratchets: boolean;
}

/** What a definition says of a version besides its schema. */
export interface SchemaRules {
  /** All fields are kept: the definition is one of those that were made before there were schemas. */
  readonly keepsUnknown: boolean;
  readonly scale: CustomResourceSubresourceScale | undefined;
}

/** The schema of one version at work on objects. All that is made of it goes with it. */
export class VersionSchema {
  readonly schema: JSONSchemaProps;
  readonly #objectMeta: MessageSchema;
  readonly #ratchets: boolean;
  readonly #rules: SchemaRules;
  #message: MessageSchema | undefined;

  constructor(schema: JSONSchemaProps, { types, ratchets }: SchemaParts, rules: SchemaRules) {
    this.schema = schema;
    this.#objectMeta = types.message('meta/v1.ObjectMeta');
    this.#ratchets = ratchets;
    this.#rules = rules;
  }

  message(): MessageSchema {
    this.#message ??= toMessage(this.schema, this.#objectMeta);
    return this.#message;
  }

  /** A body as an object, as CustomVersion.decode explains. Changes `value`. @throws DecodeError */
  decode(value: JsonObject, keepsNulls = false): Decoded {
    const { kind, apiVersion, metadata, ...rest } = value;
    const object: JsonObject = { kind, apiVersion, metadata: metadata ?? {}, ...rest };
    const options = { objectMeta: this.#objectMeta, dropInvalid: false };
    const unknown = [
      ...coerceMetadata(object, options),
      ...this.prune(object),
      ...coerceEmbedded(object, this.schema, options),
    ];
    this.#setDefaults(object, keepsNulls);
    return { object, unknown: unknown.slice(0, MAX_PROBLEMS) };
  }

  /**
   * What was stored under an earlier schema as this one would have it: what does not fit goes. Changes `object`. An object whose
   * defaults would be too many is shown without them, or nobody could read the list that it is in.
   */
  normalize(object: JsonObject): void {
    const options = { objectMeta: this.#objectMeta, dropInvalid: true };
    coerceMetadata(object, options);
    this.prune(object);
    coerceEmbedded(object, this.schema, options);
    try {
      this.#setDefaults(object);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  }

  /** Defaults may hold, or be put into, metadata of embedded objects: what its type does not have goes, as from what clients send. */
  #setDefaults(object: JsonObject, keepsNulls = false): void {
    setDefaults(object, this.schema, { keepsNulls });
    coerceEmbedded(object, this.schema, { objectMeta: this.#objectMeta, dropInvalid: true });
  }

  /** Drops fields that the schema does not have, and answers their paths. Changes `object`. */
  prune(object: JsonObject): string[] {
    return this.#rules.keepsUnknown ? [] : prune(object, this.schema, { isResourceRoot: true });
  }

  /** The order is Kubernetes': rules are run when nothing is wrong that would confuse them. */
  *validate(
    object: ApiObject,
    old: ApiObject | undefined,
    warn: (text: string) => void,
  ): Steps<FieldError[]> {
    const { schema } = this;
    const before = old !== undefined && this.#ratchets ? { old } : {};
    const errors = yield* validateInSteps(object, schema, before);
    yield;
    errors.push(...this.#ofScale(object, validateScaleSpec), ...this.#ofScale(object, validateScaleStatus));
    errors.push(...validateEmbedded(object, schema, this.#objectMeta));
    errors.push(...(yield* listTypesInSteps(object, schema, old)));
    return yield* this.#withRules(errors, object, { old, isRatcheting: this.#ratchets, warn });
  }

  /**
   * Of a write of the status the schema judges the status alone, and nothing in it may stay wrong because it was; sets, lists with
   * keys and rules are of the whole object (apiextensions-apiserver, registry/customresource/status_strategy.go).
   */
  *validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]> {
    const { schema } = this;
    const own = propertyOf(schema, 'status');
    const { status } = object;
    const errors =
      own === undefined || status === undefined
        ? []
        : yield* validateInSteps(status, own, { root: 'status' });
    yield;
    errors.push(...this.#ofScale(object, validateScaleStatus));
    errors.push(...(yield* listTypesInSteps(object, schema, old)));
    return yield* this.#withRules(errors, object, { old });
  }

  #ofScale(object: ApiObject, validate: typeof validateScaleSpec): FieldError[] {
    const { scale } = this.#rules;
    return scale === undefined ? [] : problemsOf((at) => validate(at, object, scale));
  }

  *#withRules(errors: FieldError[], object: ApiObject, options: RunOptions): Steps<FieldError[]> {
    if (!hasRules(this.schema)) return errors;
    if (errors.some(({ type }) => BLOCKING.has(type))) return [...errors, NOT_CHECKED];
    yield;
    return [...errors, ...(yield* compileRules(this.schema).run(object, options))];
  }
}

const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const NOT_CHECKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors ' +
    'to complete validation',
};
