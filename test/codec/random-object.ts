import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type {
  FieldSchema,
  MessageSchema,
  ScalarKind,
  SchemaUnion,
  ValueSchema,
} from '../../src/api/schema.ts';

/** Random values of any type, the same for the same seed. */
export class RandomObjects {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  object(schema: MessageSchema, depth = 0): JsonObject {
    const out: JsonObject = schema.typed && depth === 0 ? { kind: 'Kind', apiVersion: 'group/v1' } : {};
    for (const field of schema.fields.values()) {
      if (this.#below(100) < (depth > 3 ? 85 : 40)) continue;
      const value = this.#field(field, depth + 1);
      if (value !== undefined) out[field.name] = value;
    }
    return out;
  }

  #field(field: FieldSchema, depth: number): JsonValue | undefined {
    return depth > 6 && field.value.kind === 'message' ? undefined : this.#value(field.value, depth);
  }

  #value(value: ValueSchema, depth: number): JsonValue {
    switch (value.kind) {
      case 'message':
        return depth > 7 ? {} : this.object(value.message, depth);
      case 'list':
        return Array.from({ length: 1 + this.#below(2) }, () => this.#value(value.items, depth + 1));
      case 'map':
        return Object.fromEntries(
          Array.from({ length: 1 + this.#below(2) }, (_, n) => [
            `key${n}`,
            this.#value(value.values, depth + 1),
          ]),
        );
      case 'SchemaOrArray':
      case 'SchemaOrBool':
      case 'SchemaOrStringArray':
        return this.#union(value, depth);
      default:
        return value.enum === undefined
          ? this.#scalar(value.kind)
          : (value.enum[this.#below(value.enum.length)] ?? '');
    }
  }

  #union({ kind, message }: SchemaUnion, depth: number): JsonValue {
    const schema = (): JsonObject => (depth > 5 ? { type: 'string' } : this.object(message, depth + 1));
    if (this.#below(2) === 0) return schema();
    if (kind === 'SchemaOrBool') return this.#below(2) === 0;
    return kind === 'SchemaOrArray' ? [schema(), schema()] : ['one', 'two'];
  }

  #scalar(kind: ScalarKind): JsonValue {
    const n = 1 + this.#below(1000);
    switch (kind) {
      case 'string':
        return `text ${n} ü`;
      case 'int32':
      case 'int64':
        return n % 2 === 0 ? n : -n;
      case 'double':
        return n + 0.5;
      case 'bool':
        return true;
      case 'bytes':
        return Buffer.from(`bytes ${n}`).toString('base64');
      case 'Time':
        return new Date(1_700_000_000_000 + n * 1000).toISOString().replace('.000Z', 'Z');
      case 'MicroTime':
        return '2026-11-21T04:00:00.123456Z';
      case 'Duration':
        return `${n}s`;
      case 'Quantity':
        return `${n}Mi`;
      case 'IntOrString':
        return n % 2 === 0 ? n : `${n}%`;
      case 'FieldsV1':
      case 'RawExtension':
        return { 'f:spec': { n } };
      case 'JSON':
        return [n, 'any', null];
      default:
        return kind satisfies never;
    }
  }

  /** A linear congruential generator: good enough for shapes, and the same everywhere. */
  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state % limit;
  }
}
