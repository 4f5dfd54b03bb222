import type { JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../merge-patch.ts';
import { EMPTY, type FieldSet, LEAF, toNode } from './field-set.ts';
import { deduce, elementOf, partOf, type Shape, shapeOfItem } from './shape.ts';

/**
 * The fields that a configuration names: its values, the entries of its maps and the elements of its lists. A struct is not
 * a field of its own unless it is empty; what it consists of is.
 */
export function fieldsOf(value: JsonValue, shape: Shape): FieldSet {
  return nodeOf(value, shape, true) ?? EMPTY;
}

function nodeOf(value: JsonValue, shape: Shape, declared: boolean): FieldSet | undefined {
  const known = shape.kind === 'deduced' ? deduce(value) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map': {
      if (!isObject(value)) return LEAF;
      const out: Record<string, FieldSet> = {};
      for (const key of Object.keys(value)) {
        const inner = value[key];
        if (inner === undefined) continue;
        const part = partOf(known, key);
        const node = nodeOf(inner, part.shape, part.declared);
        if (node !== undefined) out[part.element] = node;
      }
      return toNode(!declared || Object.keys(value).length === 0, out);
    }
    case 'set':
    case 'keyed': {
      if (!Array.isArray(value)) return LEAF;
      const items = shapeOfItem(known);
      const out: Record<string, FieldSet> = {};
      for (const item of value) {
        const element = elementOf(item, known);
        if (element !== undefined)
          out[element] = out[element] === undefined ? (nodeOf(item, items, false) ?? LEAF) : LEAF;
      }
      return toNode(!declared, out);
    }
    default:
      return LEAF;
  }
}
