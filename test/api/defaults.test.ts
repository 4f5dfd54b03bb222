import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { FieldSchema, MessageSchema } from '../../src/api/schema.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { SchemaWriter } from '../../src/discovery/openapi-schema.ts';
import { toStorage } from '../../src/registry/conversion.ts';
import type { ResourceDefinition, ServedVersion } from '../../src/registry/resource-definition.ts';
import { validatingadmissionpolicies } from '../../src/resources/admissionregistration/validating-admission-policy.ts';
import { validatingadmissionpolicybindings } from '../../src/resources/admissionregistration/validating-admission-policy-binding.ts';
import { prioritylevelconfigurations } from '../../src/resources/flowcontrol/priority-level-configuration.ts';

const types = loadTypes();

interface FieldOfType {
  readonly schema: MessageSchema;
  readonly field: FieldSchema;
}

const withDefault: readonly FieldOfType[] = [...types.names()].flatMap((name) => {
  const schema = types.message(name);
  return [...schema.fields.values()]
    .filter((field) => field.default !== undefined)
    .map((field) => ({ schema, field }));
});

const nameOf = ({ schema, field }: FieldOfType): string => `${schema.name}.${field.name}`;

const decoded = (value: JsonObject, schema: MessageSchema): JsonObject => decodeObject(value, schema).object;

test('a default is a value that its field can have', () => {
  for (const one of withDefault) {
    const { schema, field } = one;
    const preset = field.default as JsonValue;
    const value = decoded({ [field.name]: preset }, schema)[field.name];
    expect({ value }, nameOf(one)).toMatchObject({ value: preset });
    if ('enum' in field.value && field.value.enum !== undefined)
      expect(field.value.enum, nameOf(one)).toContain(preset);
  }
});

test('an absent field and null take the default, published or not', () => {
  for (const one of withDefault) {
    const { schema, field } = one;
    const whole = decoded({ [field.name]: field.default as JsonValue }, schema)[field.name];
    expect(decoded({}, schema)[field.name], nameOf(one)).toEqual(whole);
    expect(decoded({ [field.name]: null }, schema)[field.name], nameOf(one)).toEqual(whole);
  }
});

test('objects do not share a default', () => {
  for (const one of withDefault.filter(({ field }) => typeof field.default === 'object')) {
    const { schema, field } = one;
    for (const fresh of [true, false]) {
      const [a, b] = [1, 2].map(() => decodeObject({}, schema, { fresh }).object[field.name]);
      expect(a, nameOf(one)).not.toBe(b);
      expect(a, nameOf(one)).not.toBe(field.default);
    }
  }
});

const ZEROS: Readonly<Record<string, JsonValue>> = {
  message: {},
  string: '',
  int32: 0,
  int64: 0,
  bool: false,
};

/** The zero value of a field that Go writes always, which is the default of such a field. */
const zeroOf = ({ value, zero, isPointer }: FieldSchema): JsonValue | undefined =>
  isPointer || zero !== 'always' ? undefined : ZEROS[value.kind];

test('OpenAPI tells of published defaults alone, and of the zero values that are always written', () => {
  const schemas = new SchemaWriter({ types }, 'v3', () => []);
  for (const one of withDefault) {
    const { schema, field } = one;
    schemas.refer(schema.name);
    const { properties } = schemas.definitions[schema.definition] as {
      properties: Record<string, JsonObject>;
    };
    expect(properties[field.name]?.default, nameOf(one)).toEqual(field.publishedDefault ?? zeroOf(field));
  }
  const published = withDefault.filter(({ field }) => field.publishedDefault !== undefined).map(nameOf);
  expect(published).toContain('core/v1.ContainerPort.protocol');
  expect(published).not.toContain('core/v1.PodSpec.dnsPolicy');
  expect(published).not.toContain('apps/v1.DeploymentStrategy.type');
});

/** What a write through a version stores, as far as the type and the strategy say. */
function stored(definition: ResourceDefinition, version: ServedVersion, spec: JsonObject): ApiObject {
  const object = decoded({ metadata: { name: 'it' }, spec }, types.message(version.type));
  const typed: ApiObject = { ...object, kind: definition.kind, apiVersion: version.version, metadata: {} };
  const inStorage = toStorage(typed, { definition, version });
  definition.strategy.defaults?.(inStorage);
  return inStorage;
}

describe('every version of a resource is stored with the same defaults', () => {
  const cases: readonly (readonly [ResourceDefinition, JsonObject])[] = [
    [validatingadmissionpolicies, { matchConstraints: {} }],
    [validatingadmissionpolicybindings, { matchResources: {} }],
    [prioritylevelconfigurations, { type: 'Limited', limited: {} }],
    [prioritylevelconfigurations, { type: 'Exempt', exempt: {} }],
  ];
  test.for(cases.map(([definition, spec]) => ({ name: definition.resource, definition, spec })))(
    '$name, $spec',
    ({ definition, spec }) => {
      const [first, ...others] = definition.versions.map((version) => stored(definition, version, spec));
      expect(others.length).toBeGreaterThan(0);
      for (const other of others) expect(other).toEqual(first);
    },
  );
});

test('parameters that are not found are denied where a binding of v1alpha1 does not say', () => {
  const version = validatingadmissionpolicybindings.versions.find((one) => one.version === 'v1alpha1');
  if (version === undefined) throw new Error('not served');
  const { spec } = stored(validatingadmissionpolicybindings, version, { paramRef: { name: 'limits' } });
  expect(spec).toMatchObject({ paramRef: { parameterNotFoundAction: 'Deny' } });
});
