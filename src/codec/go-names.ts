import type { MessageSchema, ScalarKind, ValueSchema } from '../api/schema.ts';

/** Types as Go's decoder names them in its messages. */

/** `core/v1.Container` → `Container`. */
export const shortName = ({ name }: MessageSchema): string => name.slice(name.indexOf('.') + 1);

/** `core/v1.Container` → `v1.Container`. */
export const goName = ({ name }: MessageSchema): string => name.slice(name.indexOf('/') + 1);

export function goType(value: ValueSchema): string {
  switch (value.kind) {
    case 'message':
      return goName(value.message);
    case 'list':
      return `[]${goType(value.items)}`;
    case 'map':
      return `map[string]${goType(value.values)}`;
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return `v1.JSONSchemaProps${value.kind.slice('Schema'.length)}`;
    default:
      return goScalar(value.kind);
  }
}

export function goScalar(kind: ScalarKind): string {
  switch (kind) {
    case 'bytes':
      return '[]uint8';
    case 'double':
      return 'float64';
    default:
      return kind;
  }
}
