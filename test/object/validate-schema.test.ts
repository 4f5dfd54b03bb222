import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../src/api/schema.ts';
import { validateAgainstSchema } from '../../src/object/validate-schema.ts';

const types = loadTypes();

let seed = 7;
const chance = (): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
  return seed / 4_294_967_296;
};

/** Fields by chance, in an order by chance; required ones nearly always. */
function randomMessage(schema: MessageSchema, depth: number): JsonObject {
  const fields = [...schema.fields.values()].sort(() => chance() - 0.5);
  const object: JsonObject = {};
  for (const field of fields) {
    if (depth < 8 && chance() < (field.required ? 0.97 : 0.15))
      object[field.name] = randomValue(field.value, depth + 1);
  }
  return object;
}

function randomValue(value: ValueSchema, depth: number): JsonValue {
  switch (value.kind) {
    case 'message':
      return randomMessage(value.message, depth);
    case 'list':
      return Array.from({ length: Math.floor(chance() * 3) }, () => randomValue(value.items, depth));
    case 'map':
      return { a: randomValue(value.values, depth), 'b/c': randomValue(value.values, depth) };
    default:
      if ('message' in value) return {};
      if (value.enum !== undefined && chance() < 0.9) return value.enum[0] ?? '';
      return chance() < 0.05 ? '' : 'text';
  }
}

/** Rules of definitions say in Kubernetes' words what is missing here. */
const TOLD_BY_RULES = [
  'CustomResourceColumnDefinition',
  'CustomResourceSubresourceScale',
  'SelectableField',
].map((name) => `apiextensions/v1.${name}`);

/** Required fields that may be empty. */
const isSpared = (type: string, field: string): boolean =>
  type === 'core/v1.HTTPHeader' || (type === 'core/v1.Sysctl' && field === 'value');

/** The rule itself, over every field that the type has. */
function mistakes(object: JsonObject, schema: MessageSchema, path: string): string[] {
  if (TOLD_BY_RULES.includes(schema.name)) return [];
  return [...schema.fields.values()].flatMap((field) => {
    const at = path === '' ? field.name : `${path}.${field.name}`;
    if (path === '' && (field.name === 'metadata' || field.name === 'status')) return [];
    const value = object[field.name];
    if (field.required && !isSpared(schema.name, field.name) && isMissing(value, field))
      return [`FieldValueRequired ${at}`];
    return value === undefined ? [] : mistakesOf(value, field.value, at);
  });
}

function isMissing(value: JsonValue | undefined, { name, value: { kind } }: FieldSchema): boolean {
  if (kind === 'string') return value === undefined || value === '';
  if (kind === 'message') return value === undefined;
  return name === 'containers' && (value === undefined || (Array.isArray(value) && value.length === 0));
}

function mistakesOf(value: JsonValue, schema: ValueSchema, path: string): string[] {
  switch (schema.kind) {
    case 'message':
      return mistakes(value as JsonObject, schema.message, path);
    case 'list':
      return schema.items.kind === 'message'
        ? (value as JsonObject[]).flatMap((item, at) => mistakesOf(item, schema.items, `${path}[${at}]`))
        : [];
    case 'map':
      return schema.values.kind === 'message'
        ? Object.entries(value as JsonObject).flatMap(([key, item]) =>
            mistakesOf(item ?? null, schema.values, `${path}[${key}]`),
          )
        : [];
    default:
      return 'message' in schema ||
        schema.enum === undefined ||
        (value === '' && schema.emptyCounts !== true) ||
        schema.enum.includes(String(value))
        ? []
        : [`FieldValueNotSupported ${path}`];
  }
}

describe('what a type says of its objects', () => {
  test.each([
    'core/v1.Pod',
    'apps/v1.Deployment',
    'core/v1.Service',
    'batch/v1.CronJob',
    'apiextensions/v1.CustomResourceDefinition',
  ])('%s: all errors are found, in the order of the fields, for every order of the input', (type) => {
    const schema = types.message(type);
    let wrong = 0;
    for (let round = 0; round < 400; round += 1) {
      const object = randomMessage(schema, 0);
      const expected = mistakes(object, schema, '');
      const found = validateAgainstSchema(object, schema).map((error) => `${error.type} ${error.field}`);
      expect(found).toEqual(expected);
      if (expected.length > 0) wrong += 1;
    }
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThan(400);
  });

  test.each([
    [
      'core/v1.PersistentVolumeClaimSpec',
      { volumeMode: '' },
      'Unsupported value: "": supported values: "Block", "Filesystem"',
    ],
    ['storage/v1.StorageClass', { provisioner: 'a', volumeBindingMode: '' }, 'Unsupported value: ""'],
    ['core/v1.HostPathVolumeSource', { path: '/a', type: '' }, undefined],
    ['core/v1.Container', { name: 'a', imagePullPolicy: '' }, undefined],
    ['core/v1.HTTPHeader', { name: 'X-Empty', value: '' }, undefined],
    ['core/v1.Sysctl', { name: 'a.b' }, undefined],
    ['core/v1.Sysctl', { value: '1' }, 'Required value'],
    ['discovery/v1.ForZone', { name: '' }, undefined],
  ])('%s %j: an empty text is a value of a pointer, and no value elsewhere', (type, object, message) => {
    const [error] = validateAgainstSchema(object, types.message(type));
    if (message === undefined) expect(error).toBeUndefined();
    else expect(error?.message).toContain(message);
  });
});
