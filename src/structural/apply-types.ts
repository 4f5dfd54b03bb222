import {
  type FieldSchema,
  type ListType,
  type MessageSchema,
  PLAIN_FIELD,
  type ValueSchema,
} from '../api/schema.ts';
import {
  additionalSchemaOf,
  hasProperties,
  isEmbedded,
  isIntOrString,
  itemsOf,
  keepsUnknown,
  type Schema,
} from './schema-node.ts';

/**
 * Converts a schema to the type that server-side apply needs (kube-openapi, schemaconv, on what apiextensions-apiserver
 * publishes): which parts have owners of their own. Makes each level on demand. Shapes depend on the identity of their types,
 * so keep the result as long as the schema.
 *
 * `objectMeta`: the type meta/v1.ObjectMeta.
 */
export function toMessage(schema: Schema, objectMeta: MessageSchema): MessageSchema {
  return new Types(objectMeta).message(schema, { isObject: true, keeps: keepsUnknown(schema) });
}

interface Place {
  /** The value has kind, apiVersion and metadata. */
  readonly isObject: boolean;
  /** Unknown fields are kept: here, or in a parent. */
  readonly keeps: boolean;
}

const IS_ATOMIC = 'atomic';

class Types {
  readonly #objectMeta: MessageSchema;

  constructor(objectMeta: MessageSchema) {
    this.#objectMeta = objectMeta;
  }

  message(schema: Schema, { isObject, keeps }: Place): MessageSchema {
    const fields = new Map<string, FieldSchema>();
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      fields.set(name, this.#field(name, property, keeps));
    if (isObject) {
      fields.delete('kind');
      fields.delete('apiVersion');
      fields.set('metadata', {
        ...PLAIN_FIELD,
        name: 'metadata',
        value: { kind: 'message', message: this.#objectMeta },
      });
    }
    return {
      name: 'apiextensions/v1.CustomResource',
      definition: '',
      fields,
      atomic: schema['x-kubernetes-map-type'] === IS_ATOMIC,
      typed: isObject,
      preserveUnknownFields: keeps || (fields.size === 0 && !isObject),
      unions: [],
    };
  }

  #field(name: string, schema: Schema, keeps: boolean): FieldSchema {
    const list = listIn(schema);
    const preset = schema.default ?? undefined;
    return {
      ...PLAIN_FIELD,
      name,
      value: this.#value(schema, keeps),
      default: preset,
      publishedDefault: preset,
      listType: list && listTypeOf(list),
      listMapKeys: list?.['x-kubernetes-list-map-keys'] ?? [],
    };
  }

  #value(schema: Schema, inherited: boolean): ValueSchema {
    const keeps = inherited || keepsUnknown(schema);
    switch (schema.type ?? '') {
      case 'object':
        return this.#object(schema, keeps);
      case 'array': {
        const items = itemsOf(schema);
        const value: ValueSchema = items === undefined ? ANY : this.#value(items, keeps);
        return { kind: 'list', items: value, wrapped: false };
      }
      case 'string':
        // To Kubernetes a text with a format other than base64 may be any scalar.
        return (schema.format ?? '') === '' || schema.format === 'byte' ? { kind: 'string' } : SCALAR;
      case 'integer':
        return { kind: 'int64' };
      case 'number':
        return { kind: 'double' };
      case 'boolean':
        return { kind: 'bool' };
      default:
        if (isIntOrString(schema)) return SCALAR;
        return hasProperties(schema) || isEmbedded(schema) ? this.#object(schema, keeps) : ANY;
    }
  }

  #object(schema: Schema, keeps: boolean): ValueSchema {
    const isObject = isEmbedded(schema);
    const others = additionalSchemaOf(schema);
    const isAtomic = schema['x-kubernetes-map-type'] === IS_ATOMIC;
    if (isAtomic || isObject || hasProperties(schema)) {
      const opened = keeps || (others ?? schema.additionalProperties === true) !== false;
      return this.#lazily(schema, { isObject, keeps: opened });
    }
    return { kind: 'map', values: others === undefined ? ANY : this.#value(others, keeps) };
  }

  #lazily(schema: Schema, place: Place): ValueSchema {
    const types = this;
    return {
      kind: 'message',
      get message(): MessageSchema {
        const message = types.message(schema, place);
        Object.defineProperty(this, 'message', { value: message });
        return message;
      },
    };
  }
}

/** Any value, deduced from its JSON type. */
const ANY: ValueSchema = { kind: 'JSON' };
const SCALAR: ValueSchema = { kind: 'IntOrString' };

/** The list of the value, or of the entries of a map. */
function listIn(schema: Schema): Schema | undefined {
  if (schema.type === 'array') return schema;
  const others = hasProperties(schema) ? undefined : additionalSchemaOf(schema);
  return others && listIn(others);
}

function listTypeOf({ 'x-kubernetes-list-type': type }: Schema): ListType {
  return type === 'set' || type === 'map' ? type : 'atomic';
}
