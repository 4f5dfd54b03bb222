import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type {
  FieldSchema,
  MessageDoc,
  MessageSchema,
  ScalarKind,
  SchemaUnion,
  SchemaUnionKind,
  ValueSchema,
} from '../api/schema.ts';

/** Types of the IDL as OpenAPI schemas. `v2` and `v3` differ in the place of definitions and in references to them. */
export type OpenApiVersion = 'v2' | 'v3';

export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** A reference to a definition of the same document. */
export const definitionRef = (version: OpenApiVersion, name: string): JsonObject => ({
  $ref: `#/${version === 'v2' ? 'definitions' : 'components/schemas'}/${name}`,
});

/** A type that the IDL does not have. */
export interface ForeignType {
  readonly definition: string;
  make(): JsonObject;
}

interface NamedScalar {
  readonly name: string;
  readonly schema: JsonObject;
  /** Where version 3 can say more. */
  readonly v3?: JsonObject;
}

/** Scalars that are definitions of their own, because clients know them by name. */
const NAMED_SCALARS: Readonly<Partial<Record<ScalarKind, NamedScalar>>> = {
  Time: {
    name: `${META}.Time`,
    schema: { type: 'string', format: 'date-time', description: 'A time in RFC 3339, in whole seconds.' },
  },
  MicroTime: {
    name: `${META}.MicroTime`,
    schema: { type: 'string', format: 'date-time', description: 'A time in RFC 3339, in microseconds.' },
  },
  Duration: {
    name: `${META}.Duration`,
    schema: { type: 'string', description: 'A length of time such as 1h30m.' },
  },
  Quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: { type: 'string', description: 'An amount with a unit, such as 500m, 2Gi or 1e3.' },
    v3: {
      description: 'An amount with a unit, such as 500m, 2Gi or 1e3.',
      oneOf: [{ type: 'string' }, { type: 'number' }],
    },
  },
  IntOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: {
      type: 'string',
      format: 'int-or-string',
      description: 'A number, or a text such as 25% or the name of a port.',
    },
    v3: {
      description: 'A number, or a text such as 25% or the name of a port.',
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
  FieldsV1: {
    name: `${META}.FieldsV1`,
    schema: { type: 'object', description: 'A set of fields, as a tree of their names.' },
  },
  RawExtension: {
    name: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
    schema: { type: 'object', description: 'An object of any type.' },
  },
  JSON: {
    name: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
    schema: { description: 'Any JSON value.' },
  },
};

const PLAIN_SCALARS: Readonly<Partial<Record<ScalarKind, JsonObject>>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bool: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
};

const SCHEMA_UNIONS: Readonly<Record<SchemaUnionKind, string>> = {
  SchemaOrArray: 'A schema, or a list of schemas.',
  SchemaOrBool: 'A schema, or true or false.',
  SchemaOrStringArray: 'A schema, or a list of texts.',
};

export interface SchemaSource {
  readonly types: TypeLibrary;
  /** Whether to list enumerations; true by default. */
  readonly enums?: boolean | undefined;
  /** Whether CBOR is among the media types. */
  readonly cbor?: boolean | undefined;
  /** Whether the items of lists and the values of maps have defaults in version 3: zero values (up to Kubernetes 1.35). */
  readonly itemDefaults?: boolean | undefined;
}

/** Collects definitions as references need them, each once, with the definitions that it refers to. */
export class SchemaWriter {
  readonly definitions: Record<string, JsonObject> = {};
  readonly #foreign = new Map<string, ForeignType>();
  readonly #types: TypeLibrary;
  readonly #version: OpenApiVersion;
  readonly #kindsOf: (type: string) => readonly GroupVersionKind[];
  readonly #enums: boolean;
  readonly #itemDefaults: boolean;

  constructor(
    { types, enums = true, itemDefaults = false }: SchemaSource,
    version: OpenApiVersion,
    kindsOf: (type: string) => readonly GroupVersionKind[],
  ) {
    this.#types = types;
    this.#version = version;
    this.#kindsOf = kindsOf;
    this.#enums = enums;
    this.#itemDefaults = itemDefaults && version === 'v3';
  }

  /** Lets a type that the IDL does not have be referred to. */
  introduce(name: string, type: ForeignType): void {
    this.#foreign.set(name, type);
  }

  /** A reference to a type. Adds its definition if it is missing. */
  refer(type: string): JsonObject {
    const foreign = this.#foreign.get(type);
    if (foreign !== undefined) {
      this.definitions[foreign.definition] ??= foreign.make();
      return this.#ref(foreign.definition);
    }
    const schema = this.#types.message(type);
    if (this.definitions[schema.definition] === undefined) {
      this.definitions[schema.definition] = {};
      this.definitions[schema.definition] = this.#definition(schema);
    }
    return this.#ref(schema.definition);
  }

  #ref(name: string): JsonObject {
    return definitionRef(this.#version, name);
  }

  #definition(schema: MessageSchema): JsonObject {
    const doc = this.#types.docs(schema.name);
    const properties: JsonObject = schema.typed ? { apiVersion: API_VERSION, kind: KIND } : {};
    const required: string[] = [];
    for (const field of schema.fields.values()) {
      properties[field.name] = this.#property(field, doc, schema);
      if (field.publishedRequired) required.push(field.name);
    }
    const kinds = this.#kindsOf(schema.name);
    return {
      type: 'object',
      ...(doc.description === '' ? {} : { description: doc.description }),
      ...(required.length === 0 ? {} : { required }),
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(schema.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(schema.unions.length === 0 ? {} : { 'x-kubernetes-unions': schema.unions.map(toUnion) }),
      ...(kinds.length === 0
        ? {}
        : { 'x-kubernetes-group-version-kind': kinds.map((kind) => ({ ...kind })) }),
    };
  }

  #property(field: FieldSchema, doc: MessageDoc, owner: MessageSchema): JsonObject {
    const description = doc.fields[field.name];
    const value = this.#value(field.value);
    const preset = this.#version === 'v2' ? undefined : defaultOf(field);
    const beside = {
      ...(description === undefined ? {} : { description }),
      ...(isItemsOfList(field, owner) ? {} : extensionsOf(field)),
      ...(preset === undefined ? {} : { default: preset }),
    };
    return this.#with(beside, value);
  }

  /** v3 allows no keywords beside a reference. */
  #with(beside: JsonObject, value: JsonObject): JsonObject {
    const isAlone = this.#version === 'v2' || value.$ref === undefined || Object.keys(beside).length === 0;
    return { ...beside, ...(isAlone ? value : { allOf: [value] }) };
  }

  /** A list's items or a map's values. */
  #inner(value: ValueSchema): JsonObject {
    const preset = this.#itemDefaults ? zeroOf(value) : undefined;
    return this.#with(preset === undefined ? {} : { default: preset }, this.#value(value));
  }

  #value(value: ValueSchema): JsonObject {
    switch (value.kind) {
      case 'message':
        return this.refer(value.message.name);
      case 'list':
        return { type: 'array', items: this.#inner(value.items) };
      case 'map':
        return { type: 'object', additionalProperties: this.#inner(value.values) };
      case 'SchemaOrArray':
      case 'SchemaOrBool':
      case 'SchemaOrStringArray':
        return this.#schemaUnion(value);
      default:
        return this.#scalar(value.kind, value.enum);
    }
  }

  /** Described without its structure, as in Kubernetes. */
  #schemaUnion({ kind, message }: SchemaUnion): JsonObject {
    const name = `${message.definition}${kind.slice('Schema'.length)}`;
    this.definitions[name] = { description: SCHEMA_UNIONS[kind] };
    return this.#ref(name);
  }

  #scalar(kind: ScalarKind, values: readonly string[] | undefined): JsonObject {
    const named = NAMED_SCALARS[kind];
    if (named !== undefined) {
      this.definitions[named.name] = (this.#version === 'v3' ? named.v3 : undefined) ?? named.schema;
      return this.#ref(named.name);
    }
    const plain = PLAIN_SCALARS[kind] ?? {};
    return values === undefined || !this.#enums ? plain : { ...plain, enum: [...values] };
  }
}

/** As in Kubernetes, version 3 alone has defaults. What Go never leaves out has its zero value. */
function defaultOf({ value, zero, isPointer, publishedDefault }: FieldSchema): JsonValue | undefined {
  if (publishedDefault !== undefined) return publishedDefault as JsonValue;
  return isPointer || (value.kind !== 'message' && zero !== 'always') ? undefined : zeroOf(value);
}

const zeroOf = ({ kind }: ValueSchema): JsonValue | undefined => (kind === 'message' ? {} : ZEROS[kind]);

const ZEROS: Readonly<Partial<Record<ValueSchema['kind'], JsonValue>>> = {
  string: '',
  int32: 0,
  int64: 0,
  double: 0,
  bool: false,
};

/** The items of a list of objects, which no client merges: Kubernetes says nothing of how. */
const isItemsOfList = ({ name }: FieldSchema, { fields }: MessageSchema): boolean => {
  const metadata = fields.get('metadata')?.value;
  return name === 'items' && metadata?.kind === 'message' && metadata.message.name === 'meta/v1.ListMeta';
};

export const API_VERSION: JsonObject = {
  type: 'string',
  // Tests of clients look for the first two words.
  description: 'APIVersion defines the group and version of the type, such as apps/v1.',
};
export const KIND: JsonObject = { type: 'string', description: 'Name of the type, such as Deployment.' };

function toUnion({ discriminator, fields }: MessageSchema['unions'][number]): JsonObject {
  return {
    ...(discriminator === undefined ? {} : { discriminator }),
    'fields-to-discriminateBy': { ...fields },
  };
}

function extensionsOf(field: FieldSchema): JsonObject {
  const isWrapped = field.value.kind === 'list' && field.value.wrapped;
  return {
    ...(field.listType === undefined || isWrapped ? {} : { 'x-kubernetes-list-type': field.listType }),
    ...(field.listMapKeys.length === 0 ? {} : { 'x-kubernetes-list-map-keys': [...field.listMapKeys] }),
    ...(field.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(field.granular ? { 'x-kubernetes-map-type': 'granular' } : {}),
    ...(field.patchStrategy.length === 0
      ? {}
      : { 'x-kubernetes-patch-strategy': field.patchStrategy.join(',') }),
    ...(field.patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
  };
}
