import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { invalid } from '../../src/api/status.ts';
import type {
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  JSONSchemaProps,
} from '../../src/api/types/apiextensions/v1.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import type { ConversionParts } from '../../src/custom-resources/conversion/webhook-converter.ts';
import { CustomResource } from '../../src/custom-resources/custom-resource.ts';
import type { CustomVersion } from '../../src/registry/custom.ts';
import { atOnce } from '../../src/util/turns.ts';
import { definitionOf } from '../kit/definitions.ts';

/** What is wrong with an object of a custom resource, on a write of the whole and on one of its status. */

const types = loadTypes();
/** No definition here has one. */
const NO_WEBHOOK = {} as ConversionParts;

function customOf(version: Partial<CustomResourceDefinitionVersion>): CustomVersion {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const [first] = definition.spec?.versions ?? [];
  Object.assign(first ?? {}, version);
  const parts = { types, ratchets: true, conversion: NO_WEBHOOK };
  const [served] = new CustomResource(toStoredJson(definition), parts).definitions();
  if (served?.custom === undefined) throw new Error('nothing is served');
  return served.custom;
}

const withSchema = (properties: Record<string, JSONSchemaProps>, rest: JSONSchemaProps = {}): CustomVersion =>
  customOf({ schema: { openAPIV3Schema: { type: 'object', properties, ...rest } } });

const objectOf = (fields: JsonObject): ApiObject => ({
  kind: 'Widget',
  apiVersion: 'stable.example.com/v1',
  metadata: { name: 'a', namespace: 'default' },
  ...fields,
});

type Wrong = string[];
const listed = (errors: Iterable<{ field: string; message: string }>): Wrong =>
  [...errors].map(({ field, message }) => `${field}: ${message}`);

const ofObject = (custom: CustomVersion, object: JsonObject, old?: JsonObject): Wrong =>
  listed(
    atOnce(custom.validate(objectOf(object), old === undefined ? undefined : objectOf(old), () => undefined)),
  );

const ofStatus = (custom: CustomVersion, object: JsonObject, old: JsonObject): Wrong =>
  listed(atOnce(custom.validateStatus(objectOf(object), objectOf(old))));

const SHORT: JSONSchemaProps = { type: 'string', maxLength: 3 };
const SET: JSONSchemaProps = { type: 'array', items: SHORT, 'x-kubernetes-list-type': 'set' };
const TOO_LONG = 'Too long: may not be longer than 3';

const WIDGET = withSchema(
  {
    spec: { type: 'object', properties: { name: SHORT, tags: SET } },
    status: { type: 'object', required: ['phase'], properties: { phase: SHORT, tags: SET } },
  },
  { required: ['spec'] },
);

test('a write of the status is refused for what is wrong with the status, and for nothing else that a schema says', () => {
  const spec = { name: 'longer' };
  expect(ofStatus(WIDGET, { spec, status: { phase: 'up' } }, { spec })).toEqual([]);
  expect(ofStatus(WIDGET, { status: { phase: 'up' } }, {})).toEqual([]);
  expect(ofStatus(WIDGET, { spec, status: { phase: 'longer' } }, { spec })).toEqual([
    `status.phase: ${TOO_LONG}`,
  ]);
  expect(ofStatus(WIDGET, { spec, status: {} }, { spec })).toEqual(['status.phase: Required value']);
  expect(ofStatus(WIDGET, { spec, status: 'up' }, { spec })).toEqual([
    'status: Invalid value: "string":  in body must be of type object: "string"',
  ]);
  expect(ofStatus(WIDGET, { spec }, { spec, status: { phase: 'longer' } })).toEqual([]);
});

test('a status that did not change may stay wrong, where it is written by itself too', () => {
  const wrong = { spec: {}, status: { phase: 'longer' } };
  expect(ofObject(WIDGET, wrong, wrong)).toEqual([]);
  expect(ofStatus(WIDGET, wrong, wrong)).toEqual([]);
  expect(ofStatus(WIDGET, { ...wrong, status: { phase: 'longest' } }, wrong)).toHaveLength(1);
});

test('a status of which the schema says nothing may be anything', () => {
  const custom = withSchema({ spec: { type: 'object' } }, { 'x-kubernetes-preserve-unknown-fields': true });
  expect(ofStatus(custom, { status: 'up' }, {})).toEqual([]);
});

test('sets are checked in the whole object when the status is written, unless something was there twice before', () => {
  const twice = { tags: ['a', 'a'] };
  const duplicate = 'status.tags[1]: Duplicate value: "a"';
  expect(ofStatus(WIDGET, { status: { phase: 'up', ...twice } }, {})).toEqual([duplicate]);
  expect(ofStatus(WIDGET, { spec: twice, status: { phase: 'up', ...twice } }, { spec: twice })).toEqual([]);
});

test('rules are run on the whole object when the status is written, and what did not change may stay', () => {
  const custom = withSchema({
    spec: {
      type: 'object',
      properties: { size: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.size < 5', message: 'too large' }],
    },
    status: { type: 'object', properties: { phase: SHORT } },
  });
  const spec = { size: 7 };
  expect(ofObject(custom, { spec, status: { phase: 'up' } }, { spec })).toEqual([]);
  expect(ofStatus(custom, { spec, status: { phase: 'up' } }, { spec })).toEqual([]);
  expect(ofStatus(custom, { spec, status: { phase: 'up' } }, { spec: { size: 6 } })).toEqual([
    'spec: Invalid value: "object": too large',
  ]);
  expect(ofStatus(custom, { spec, status: { phase: 'longer' } }, { spec })).toEqual([
    `status.phase: ${TOO_LONG}`,
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the ' +
      'existing errors to complete validation',
  ]);
});

const SCALE: CustomResourceSubresourceScale = {
  specReplicasPath: '.spec.size',
  statusReplicasPath: '.status.size',
  labelSelectorPath: '.status.selector',
};
const ANYTHING: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const SCALED = customOf({
  schema: { openAPIV3Schema: ANYTHING },
  subresources: { scale: SCALE, status: {} },
});

test.each<[string, JsonObject, Wrong]>([
  ['nothing', {}, []],
  ['numbers', { spec: { size: 0 }, status: { size: 2 ** 31 - 1, selector: 'a=b' } }, []],
  [
    'negative replicas',
    { spec: { size: -1 } },
    ['.spec.size: Invalid value: -1: should be a non-negative integer'],
  ],
  [
    'more replicas than an int32 holds',
    { spec: { size: 2 ** 31 }, status: { size: 2n ** 62n } },
    [
      '.spec.size: Invalid value: 2147483648: should be less than or equal to 2147483647',
      '.status.size: Invalid value: 4611686018427387904: should be less than or equal to 2147483647',
    ],
  ],
  [
    'replicas that are no number, and a selector that is no text',
    { spec: { size: 'two' }, status: { selector: 7 } },
    [
      '.spec.size: Invalid value: 0: .spec.size accessor error: two is of the type string, expected int64',
      '.status.selector: Invalid value: "": .status.selector accessor error: 7 is of the type int64, expected string',
    ],
  ],
])('values of a scale must be such as a Scale can show: %s', (_, object, wrong) => {
  expect(ofObject(SCALED, object)).toEqual(wrong);
  expect(ofObject(SCALED, object, object)).toEqual(wrong);
  expect(ofStatus(SCALED, object, object)).toEqual(wrong.filter((one) => one.startsWith('.status')));
});

test('the status of a custom resource never writes its spec, also where the schema does not name it', () => {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  const [first] = definition.spec?.versions ?? [];
  Object.assign(first ?? {}, {
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    subresources: { status: {} },
  });
  const parts = { types, ratchets: true, conversion: NO_WEBHOOK };
  const [served] = new CustomResource(toStoredJson(definition), parts).definitions();
  const view = served?.subresources.find(({ name }) => name === 'status');
  expect(view).toMatchObject({ access: 'view', resetFields: [['metadata'], ['spec']] });
});

test('what breaks a rule is shown by its type before 1.35, and by its value since, if that is small', () => {
  const rule = (reason?: string): JSONSchemaProps => ({
    'x-kubernetes-validations': [{ rule: 'false', ...(reason === undefined ? {} : { reason }) }],
  });
  const custom = withSchema({
    count: { type: 'integer', ...rule() },
    name: { type: 'string', ...rule('FieldValueDuplicate') },
    spec: { type: 'object', ...rule() },
    tags: { type: 'array', items: SHORT, ...rule('FieldValueDuplicate') },
  });
  const wrong = objectOf({ count: 2, name: 'a', spec: {}, tags: ['b'] });
  const error = invalid(
    { kind: 'Widget', group: 'g' },
    'a',
    atOnce(custom.validate(wrong, undefined, () => undefined)),
  );
  const textsIn = (minor: Minor) =>
    error
      .inVersion(minor)
      .status.details?.causes?.map(({ message }) => message?.replace(': failed rule: false', ''));
  expect(textsIn(34)).toEqual([
    'Invalid value: "integer"',
    'Duplicate value: "string"',
    'Invalid value: "object"',
    'Duplicate value: "array"',
  ]);
  for (const minor of [35, 36] as const)
    expect(textsIn(minor)).toEqual([
      'Invalid value: 2',
      'Duplicate value: "a"',
      'Invalid value',
      'Duplicate value',
    ]);
});

test('the error of rules that were not run has a null as JSON since 1.34', () => {
  const custom = withSchema({
    name: SHORT,
    spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }] },
  });
  const wrong = objectOf({ name: 'longer', spec: {} });
  const error = invalid(
    { kind: '', group: '' },
    '',
    atOnce(custom.validate(wrong, undefined, () => undefined)),
  );
  const lastIn = (minor: Minor) => error.inVersion(minor).status.details?.causes?.at(-1)?.message;
  expect(lastIn(33)).toMatch(/^Invalid value: "null": some validation rules were not checked/);
  expect(lastIn(34)).toMatch(/^Invalid value: null: some validation rules were not checked/);
});
