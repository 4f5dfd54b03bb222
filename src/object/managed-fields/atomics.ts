import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../api/schema.ts';
import { isObject } from '../json-values.ts';

/**
 * The paths of lists, maps and structs in a configuration that server-side apply would replace as one value: `.spec.selector`,
 * `.spec.containers[0].args`. Entries of maps are not looked into (Kubernetes: policy/mutating/patch, findAtomics).
 */
export function atomicsIn(config: JsonObject, schema: MessageSchema): string[] {
  return ofMessage(config, schema, '');
}

function ofMessage(object: JsonObject, { fields }: MessageSchema, path: string): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const field = fields.get(name);
    return field === undefined || value === undefined ? [] : ofField(value, field, `${path}.${name}`);
  });
}

function ofField(value: JsonValue, field: FieldSchema, path: string): string[] {
  const isAtomicList = field.value.kind === 'list' && !['set', 'map'].includes(field.listType ?? '');
  const isAtomic = field.atomic || isAtomicList;
  return ofValue(value, field.value, { path, isAtomic, isGranular: field.granular });
}

interface Place {
  readonly path: string;
  readonly isAtomic: boolean;
  /** Although its type is atomic. */
  readonly isGranular?: boolean;
}

function ofValue(value: JsonValue, schema: ValueSchema, { path, isAtomic, isGranular }: Place): string[] {
  const own = isAtomic ? [path] : [];
  switch (schema.kind) {
    case 'message':
      if (!isObject(value)) return [];
      return [
        ...(isAtomic || (schema.message.atomic && isGranular !== true) ? [path] : []),
        ...ofMessage(value, schema.message, path),
      ];
    case 'map':
      return isObject(value) ? own : [];
    case 'list':
      return Array.isArray(value) ? [...own, ...ofItems(value, schema.items, path)] : [];
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
      // Of an unknown type: lists are one value.
      return Array.isArray(value) ? [path] : [];
    default:
      return [];
  }
}

const ofItems = (list: readonly JsonValue[], items: ValueSchema, path: string): string[] =>
  list.flatMap((item, at) =>
    ofValue(item, items, { path: `${path}[${at}]`, isAtomic: items.kind === 'list' }),
  );
