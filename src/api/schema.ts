/**
 * The shape of API types, as compiled from the IDL (src/api/idl/*.proto).
 *
 * One description serves everything that must know a type: decoding and strict validation, defaults, strategic merge,
 * server-side apply, the protobuf codec, OpenAPI and `kubectl explain`. Schemas are immutable and shared.
 */

/**
 * How one value is written in JSON and in protobuf. Scalars name their JSON form; the named ones differ between the two:
 *
 * | kind         | JSON                     | protobuf |
 * |--------------|--------------------------|----------|
 * | bytes        | base64 string            | bytes |
 * | Time         | RFC 3339, whole seconds  | message {1: seconds, 2: nanos} |
 * | MicroTime    | RFC 3339, microseconds   | message {1: seconds, 2: nanos} |
 * | Duration     | Go duration string       | message {1: nanoseconds} |
 * | Quantity     | string (numbers accepted)| message {1: string} |
 * | IntOrString  | number or string         | message {1: type, 2: int, 3: string} |
 * | FieldsV1     | object                   | message {1: raw JSON} |
 * | RawExtension | any object               | message {1: raw bytes} |
 * | JSON         | any value                | message {1: raw JSON} |
 * | SchemaOrArray | schema or list of them  | message {1: schema, 2: schemas} |
 * | SchemaOrBool | schema or boolean        | message {1: bool, 2: schema} |
 * | SchemaOrStringArray | schema or list of strings | message {1: schema, 2: strings} |
 */
export type ScalarKind =
  | 'string'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'double'
  | 'bytes'
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'Quantity'
  | 'IntOrString'
  | 'FieldsV1'
  | 'RawExtension'
  | 'JSON';

/** A schema (JSONSchemaProps), or a permitted alternative. */
export type SchemaUnionKind = 'SchemaOrArray' | 'SchemaOrBool' | 'SchemaOrStringArray';

export const isSchemaUnionKind = (kind: string): kind is SchemaUnionKind =>
  kind === 'SchemaOrArray' || kind === 'SchemaOrBool' || kind === 'SchemaOrStringArray';

/** `message` is the schema. */
export interface SchemaUnion {
  readonly kind: SchemaUnionKind;
  readonly message: MessageSchema;
}

export type ValueSchema =
  | {
      readonly kind: ScalarKind;
      readonly enum?: readonly string[];
      /** An empty text is a value, which the enumeration has to name. Elsewhere it stands for an absent one. */
      readonly emptyCounts?: boolean;
    }
  | { readonly kind: 'message'; readonly message: MessageSchema }
  | SchemaUnion
  /** `wrapped`: in protobuf a message with the items in field 1 (ExtraValue, Verbs). */
  | { readonly kind: 'list'; readonly items: ValueSchema; readonly wrapped: boolean }
  | { readonly kind: 'map'; readonly values: ValueSchema };

/** How server-side apply merges a list: as one value, as a set of scalars, or as a map by `listMapKeys`. */
export type ListType = 'atomic' | 'set' | 'map';

export interface FieldSchema {
  /** The JSON name. */
  readonly name: string;
  /** Protobuf field number; undefined where the type has no protobuf form. */
  readonly number: number | undefined;
  readonly value: ValueSchema;
  readonly required: boolean;
  /** Whether the OpenAPI document lists it among those that are required, which depends on the version. */
  readonly publishedRequired: boolean;
  /** Updates cannot change the field, nor its parts. */
  readonly immutable: boolean;
  /**
   * Numbers of the messages this field is nested in on the wire, outermost first, where its type is flattened into this
   * one in JSON (a probe's handler). Usually empty.
   */
  readonly nesting: readonly number[];
  /**
   * How JSON shows a zero value, as Go would write the type: `omit` drops it, `keep` keeps it because absence means something
   * else (a pointer), `always` writes the field even when it is absent.
   */
  readonly zero: 'omit' | 'keep' | 'always';
  /** A pointer in Go: protobuf omits the absent field, where it writes the zero value of other fields. */
  readonly isPointer: boolean;
  /** The value of an absent field after decoding; undefined for none. */
  readonly default: unknown;
  /** The default in OpenAPI, which server-side apply uses for keys; undefined where Kubernetes applies it without publishing it. */
  readonly publishedDefault: unknown;
  readonly listType: ListType | undefined;
  readonly listMapKeys: readonly string[];
  /** A struct or map that server-side apply owns as one value. */
  readonly atomic: boolean;
  /** A struct or map whose fields server-side apply owns one by one, although its type is atomic. */
  readonly granular: boolean;
  /** Strategic merge patch. */
  readonly patchStrategy: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey: string | undefined;
  /** The gate that must be open to keep the field. */
  readonly gate: FieldGate | undefined;
  /** Fields anywhere below this one whose gates do not apply there. */
  readonly ungated: readonly string[];
  /** Drop the field when closed gates leave nothing in it. */
  readonly dropEmpty: boolean;
}

/** A field without traits, of a type that has no protobuf form. */
export const PLAIN_FIELD = {
  number: undefined,
  required: false,
  publishedRequired: false,
  immutable: false,
  nesting: [],
  zero: 'keep',
  default: undefined,
  publishedDefault: undefined,
  listType: undefined,
  listMapKeys: [],
  atomic: false,
  granular: false,
  patchStrategy: [],
  patchMergeKey: undefined,
  gate: undefined,
  ungated: [],
  dropEmpty: false,
  isPointer: false,
} as const satisfies Omit<FieldSchema, 'name' | 'value'>;

export interface FieldGate {
  /** Keep the field when one of these gates is open. */
  readonly anyOf: readonly string[];
  /** Other fields of these gates: a stored object uses the feature when it has one of them or the field itself. */
  readonly usedBy: readonly string[];
  /** The value of the field while the gates are closed, instead of dropping it. */
  readonly off?: string;
}

export interface MessageSchema {
  /** IDL name: `<group directory>/<version>.<Type>`, for example `core/v1.Pod`. */
  readonly name: string;
  /** OpenAPI definition name, for example `io.k8s.api.core.v1.Pod`. */
  readonly definition: string;
  /** In declaration order. JSON is written in this order. */
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** The whole object is one value to server-side apply. */
  readonly atomic: boolean;
  /** Begins with kind and apiVersion. */
  readonly typed: boolean;
  /** Unknown fields are kept (custom types only). */
  readonly preserveUnknownFields: boolean;
  /** Exactly one of these fields may be set, as a discriminator names it. */
  readonly unions: readonly UnionSchema[];
}

interface UnionSchema {
  readonly discriminator?: string | undefined;
  /** JSON field name → discriminator value. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The descriptions of a type for `kubectl explain` and OpenAPI. Kept apart from the schema because few requests need it. */
export interface MessageDoc {
  readonly description: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The message of a value, or of its items or values. */
export function messageIn(value: ValueSchema): MessageSchema | undefined {
  if ('message' in value) return value.message;
  if (value.kind === 'list') return messageIn(value.items);
  return value.kind === 'map' ? messageIn(value.values) : undefined;
}
