import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, notSupported } from '../../../object/field-errors.ts';
import { part, text } from '../../../object/parts.ts';
import { has, toObject } from '../../validation/fields.ts';
import { validateListAndMapTypes } from './list-types.ts';
import {
  additionalOf,
  type Child,
  clausesOf,
  isOn,
  itemsOf,
  propertiesOf,
  type Schema,
  tupleOf,
} from './node.ts';
import { validateRules } from './rules.ts';

/** Which parts of OpenAPI v3 a schema may use at all, wherever in it (apiextensions, validation/validation.go). */
export function validateOpenApi(schema: Schema, path: string): FieldError[] {
  return validateNode(schema, path, { isRoot: true, insideMeta: false, noDefaults: undefined });
}

interface Place {
  readonly isRoot: boolean;
  /** Inside the apiVersion, kind or metadata of the resource or of one embedded in it. */
  readonly insideMeta: boolean;
  /** Why no default may be set here. */
  readonly noDefaults: string | undefined;
}

function validateNode(schema: Schema, path: string, place: Place): FieldError[] {
  return [
    ...validateKeywords(schema, path, place),
    ...validateExclusion(schema, path),
    ...childrenOf(schema, path, place).flatMap((child) =>
      validateNode(child.schema, child.path, child.place),
    ),
    ...validateListAndMapTypes(schema, path),
    ...validateRules(schema, path),
  ];
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const;

function validateKeywords(schema: Schema, path: string, place: Place): FieldError[] {
  const type = text(schema.type);
  const errors: FieldError[] = [];
  if (type !== '' && !TYPES.some((known) => known === type))
    errors.push(notSupported(`${path}.type`, type, TYPES));
  if (has(schema, 'default') && place.noDefaults !== undefined)
    errors.push(forbiddenField(`${path}.default`, `must not be set ${place.noDefaults}`));
  errors.push(...validateUnsupported(schema, path));
  if (type === 'null')
    errors.push(forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  if (tupleOf(schema).length > 0)
    errors.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'));
  if (place.insideMeta && isOn(schema, 'x-kubernetes-embedded-resource'))
    errors.push(
      forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'),
    );
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    errors.push(invalidValue(field, false, 'must be true or undefined'));
  }
  return errors;
}

function validateUnsupported(schema: Schema, path: string): FieldError[] {
  const used = (name: string): boolean => {
    const value = schema[name];
    return (
      has(schema, name) && value !== '' && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0)
    );
  };
  const names = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'].filter(
    (name) => (name === 'additionalItems' || name === '$ref' ? has(schema, name) : used(name)),
  );
  const errors = names.map((name) => forbiddenField(`${path}.${name}`, `${name} is not supported`));
  if (isOn(schema, 'uniqueItems')) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbiddenField(`${path}.uniqueItems`, why));
  }
  return errors;
}

/** Fields are known, or they are all alike: an object is one or the other, because unknown fields are ignored. */
function validateExclusion(schema: Schema, path: string): FieldError[] {
  const additional = additionalOf(schema);
  const both = additional !== undefined && additional !== true && propertiesOf(schema).length > 0;
  return both
    ? [
        forbiddenField(
          `${path}.additionalProperties`,
          'additionalProperties and properties are mutual exclusive',
        ),
      ]
    : [];
}

const META = ['metadata', 'kind', 'apiVersion'];
const IN_META_MAP = 'inside additionalProperties applying to object metadata';

function childrenOf(schema: Schema, path: string, place: Place): (Child & { readonly place: Place })[] {
  const inner: Place = { ...place, isRoot: false };
  const additional = additionalOf(schema);
  const items = itemsOf(schema);
  const at = (child: Child, where: Place = inner) => ({ ...child, place: where });
  const named = (name: string): Child[] =>
    Object.entries(part(schema, name)).flatMap(([key, value]) =>
      Array.isArray(value) ? [] : [{ schema: toObject(value), path: `${path}.${name}[${key}]` }],
    );
  return [
    ...(typeof additional === 'object'
      ? [
          at(
            { schema: additional, path: `${path}.additionalProperties` },
            place.insideMeta ? { ...inner, noDefaults: IN_META_MAP } : inner,
          ),
        ]
      : []),
    ...propertiesOf(schema, path).map((property) => at(property, placeOf(property.name, schema, place))),
    ...clausesOf(schema, path).map((clause) => at(clause)),
    ...named('definitions').map((child) => at(child)),
    ...(items === undefined ? [] : [at({ schema: items, path: `${path}.items` })]),
    ...tupleOf(schema).map((item, index) => at({ schema: item, path: `${path}.items[${index}]` })),
    ...named('dependencies').map((child) => at(child)),
  ];
}

function placeOf(name: string, schema: Schema, place: Place): Place {
  const isResource = place.isRoot || isOn(schema, 'x-kubernetes-embedded-resource');
  if (!isResource || !META.includes(name)) return { ...place, isRoot: false };
  const noDefaults = place.isRoot ? `in top-level ${name}` : place.noDefaults;
  return { isRoot: false, insideMeta: true, noDefaults };
}
