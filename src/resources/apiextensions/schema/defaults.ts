import type { JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, required } from '../../../object/field-errors.ts';
import { goAny } from '../../../object/go-value.ts';
import { validateValue } from '../../../object/json-schema/validate-value.ts';
import { has, toObject } from '../../validation/fields.ts';
import { additionalOf, isOn, itemsOf, propertiesOf, propertyOf, type Schema } from './node.ts';

/**
 * Defaults are values of the fields they are for, and hold nothing that would be pruned. Runs on structural schemas only.
 * Defaults under additionalProperties of metadata are refused elsewhere, those in allOf and the like are not structural.
 */
export function validateDefaults(schema: Schema, path: string): FieldError[] {
  return validateNode(schema, path, { isResource: true, insideMeta: false });
}

interface Place {
  readonly isResource: boolean;
  readonly insideMeta: boolean;
}

function validateNode(schema: Schema, path: string, place: Place): FieldError[] {
  const isResource = place.isResource || isOn(schema, 'x-kubernetes-embedded-resource');
  const insideMeta = place.insideMeta && !isResource;
  const items = itemsOf(schema);
  return [
    ...(has(schema, 'default') ? validateDefault(schema, `${path}.default`, { isResource, insideMeta }) : []),
    ...(items === undefined ? [] : validateNode(items, `${path}.items`, { isResource: false, insideMeta })),
    ...propertiesOf(schema, path).flatMap((property) => {
      const meta = isResource && META.includes(property.name);
      return validateNode(property.schema, property.path, {
        isResource: false,
        insideMeta: insideMeta || meta,
      });
    }),
  ];
}

const META = ['metadata', 'apiVersion', 'kind'];

function validateDefault(schema: Schema, path: string, { isResource, insideMeta }: Place): FieldError[] {
  const value = schema.default ?? null;
  const unpruned = !insideMeta && holdsUnknown(value, schema, isResource);
  return [
    ...(unpruned ? [invalidValue(path, goAny(value), 'must not have unknown fields')] : []),
    ...(isResource && !insideMeta ? validateTypeMeta(value, path) : []),
    ...validateValue(value, schema, { root: path, path: '' }),
  ];
}

/** An object inside an object is an object only with its kind. */
function validateTypeMeta(value: JsonValue, path: string): FieldError[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return ['apiVersion', 'kind'].flatMap((name) => {
    const given = value[name];
    if (given === undefined) return [required(`${path}.${name}`, 'must not be empty')];
    if (typeof given !== 'string') return [invalidValue(`${path}.${name}`, goAny(given), 'must be a string')];
    return given === '' ? [invalidValue(`${path}.${name}`, goAny(given), 'must not be empty')] : [];
  });
}

function holdsUnknown(value: JsonValue, schema: Schema | undefined, isResource = false): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsUnknown(item, schema && itemsOf(schema)));
  if (typeof value !== 'object' || value === null) return false;
  if (schema === undefined) return Object.keys(value).length > 0;
  const keeps = isOn(schema, 'x-kubernetes-preserve-unknown-fields');
  const additional = additionalOf(schema);
  return Object.entries(value).some(([name, item = null]) => {
    if (isResource && META.includes(name)) return false;
    const property = propertyOf(schema, name);
    if (property !== undefined)
      return holdsUnknown(item, property, isOn(property, 'x-kubernetes-embedded-resource'));
    if (additional !== undefined)
      return holdsUnknown(item, typeof additional === 'object' ? toObject(additional) : undefined);
    return !keeps;
  });
}
