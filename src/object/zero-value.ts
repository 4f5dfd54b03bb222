import type { JsonValue } from '../api/object-meta.ts';
import type { ScalarKind, SchemaUnionKind } from '../api/schema.ts';

/** The unset value of a field that is always written. */
export function zeroScalar(kind: ScalarKind | SchemaUnionKind | 'list' | 'map'): JsonValue {
  switch (kind) {
    case 'string':
      return '';
    case 'int32':
    case 'int64':
    case 'double':
    case 'IntOrString':
      return 0;
    case 'bool':
      return false;
    case 'Quantity':
      return '0';
    case 'Duration':
      return '0s';
    default:
      return null;
  }
}
