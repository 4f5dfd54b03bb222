import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { type FieldError, StatusError } from '../api/status.ts';
import type { CustomResourceSubresourceScale, JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import type { Decoded } from '../codec/decode.ts';
import { MAX_PROBLEMS } from '../object/document-limits.ts';
import { problemsOf } from '../object/field-path.ts';
import { toMessage } from '../structural/apply-types.ts';
import { coerceEmbedded, coerceMetadata, validateEmbedded } from '../structural/embedded-metadata.ts';
import { listTypesInSteps } from '../structural/list-types.ts';
import { prune } from '../structural/prune.ts';
import { compileRules, hasRules, type RunOptions } from '../structural/rules/compiled-rules.ts';
import { withoutNames } from '../structural/schema-formats.ts';
import { propertyOf } from '../structural/schema-node.ts';
import { setDefaults } from '../structural/set-defaults.ts';
import { validateInSteps } from '../structural/validate-value.ts';
import type { Steps } from '../util/turns.ts';
import { validateScaleSpec, validateScaleStatus } from './custom-scale.ts';

export interface SchemaParts {
  readonly types: TypeLibrary;
  /** Feature gate CRDValidationRatcheting: an update may keep values that were invalid before. */
  readonly ratchets: boolean;
  /** Whether types and formats of numbers are checked; absent: not. */
  readonly checksNumbers?: boolean;
  /** Whether formats of names are checked; absent: not. */
  readonly checksNames?: boolean;
}

/** Other rules of a version in its definition. */
interface SchemaRules {
  /** Keeps all fields: the definition is older than schemas. */
  readonly keepsUnknown: boolean;
  readonly scale: CustomResourceSubresourceScale | undefined;
}

/** Applies the schema of one version to objects, and owns its compiled forms. */
export class VersionSchema {
  readonly schema: JSONSchemaProps;
  readonly #objectMeta: MessageSchema;
  readonly #ratchets: boolean;
  readonly #checksNumbers: boolean;
  readonly #checksNames: boolean;
  readonly #rules: SchemaRules;
  #message: MessageSchema | undefined;
  #judge: JSONSchemaProps | undefined;

  constructor(
    schema: JSONSchemaProps,
    { types, ratchets, checksNumbers = false, checksNames = false }: SchemaParts,
    rules: SchemaRules,
  ) {
    this.schema = schema;
    this.#objectMeta = types.message('meta/v1.ObjectMeta');
    this.#ratchets = ratchets;
    this.#checksNumbers = checksNumbers;
    this.#checksNames = checksNames;
    this.#rules = rules;
  }

  message(): MessageSchema {
    this.#message ??= toMessage(this.schema, this.#objectMeta);
    return this.#message;
  }

  /** Decodes a body, as CustomVersion.decode describes. Changes `value`. @throws DecodeError */
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
   * Adapts an object stored under an earlier schema: drops invalid parts. Changes `object`. An object with too many defaults is
   * shown without them, so that lists containing it stay readable.
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

  /** Sets defaults, and drops unknown metadata of embedded objects, which defaults may contain, as in bodies of clients. */
  #setDefaults(object: JsonObject, keepsNulls = false): void {
    setDefaults(object, this.schema, { keepsNulls });
    coerceEmbedded(object, this.schema, { objectMeta: this.#objectMeta, dropInvalid: true });
  }

  /** The schema with the formats that are checked. */
  #judging(): JSONSchemaProps {
    this.#judge ??= this.#checksNames ? this.schema : withoutNames(this.schema);
    return this.#judge;
  }

  /** Drops unknown fields and returns their paths. Changes `object`. */
  prune(object: JsonObject): string[] {
    return this.#rules.keepsUnknown ? [] : prune(object, this.schema, { isResourceRoot: true });
  }

  /** Checks in Kubernetes' order: runs rules only on objects that are otherwise valid. */
  *validate(
    object: ApiObject,
    old: ApiObject | undefined,
    warn: (text: string) => void,
  ): Steps<FieldError[]> {
    const { schema } = this;
    const before = old !== undefined && this.#ratchets ? { old } : {};
    const checksNumbers = this.#checksNumbers;
    const errors = yield* validateInSteps(object, this.#judging(), { ...before, checksNumbers });
    yield;
    errors.push(...this.#ofScale(object, validateScaleSpec), ...this.#ofScale(object, validateScaleStatus));
    errors.push(...validateEmbedded(object, schema, this.#objectMeta));
    errors.push(...(yield* listTypesInSteps(object, schema, old)));
    return yield* this.#withRules(errors, object, { old, isRatcheting: this.#ratchets, warn });
  }

  /**
   * Validates a write of the status: the schema applies to the status alone; set, map and rule checks apply to the whole object
   * (apiextensions-apiserver, registry/customresource/status_strategy.go).
   */
  *validateStatus(object: ApiObject, old: ApiObject): Steps<FieldError[]> {
    const { schema } = this;
    const own = propertyOf(this.#judging(), 'status');
    const { status } = object;
    const before = old.status !== undefined && this.#ratchets ? { old: old.status } : {};
    const errors =
      own === undefined || status === undefined
        ? []
        : yield* validateInSteps(status, own, {
            root: 'status',
            ...before,
            checksNumbers: this.#checksNumbers,
          });
    yield;
    errors.push(...this.#ofScale(object, validateScaleStatus));
    errors.push(...(yield* listTypesInSteps(object, schema, old)));
    return yield* this.#withRules(errors, object, { old, isRatcheting: this.#ratchets });
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

const WHY_NOT =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

const NOT_CHECKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message: `Invalid value: "null": ${WHY_NOT}`,
  messageSince134: `Invalid value: null: ${WHY_NOT}`,
};
