import { expect, test } from 'vitest';
import {
  decodeReview as decodeAdmission,
  toVerdict,
} from '../../../src/admission/webhooks/admission-review.ts';
import { readDocument } from '../../../src/aggregation/remote-openapi.ts';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, JsonValue } from '../../../src/api/object-meta.ts';
import { TokenWebhook } from '../../../src/authn/token-webhook.ts';
import {
  convertedObjects,
  decodeReview,
} from '../../../src/custom-resources/conversion/conversion-review.ts';
import {
  assertSameIdentity,
  assertSameType,
  readConverted,
  withMetadataOf,
} from '../../../src/custom-resources/conversion/converted-object.ts';

const types = loadTypes();
const ODD: readonly JsonValue[] = [null, 1, -1, 'x', true, [], [null], [[]], {}, { a: null }, { length: 3 }];

/** The value with each part missing, or of another type. */
function* spoilt(value: JsonValue): Iterable<JsonValue> {
  yield* ODD;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const other of spoilt(item)) yield value.with(at, other);
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    const { [name]: _, ...rest } = value;
    yield rest;
    for (const other of spoilt(part ?? null)) yield { ...value, [name]: other };
  }
}

const bytesOf = (value: JsonValue): Buffer => Buffer.from(JSON.stringify(value));

const original: ApiObject = {
  ...{ kind: 'W', apiVersion: 'g/v1' },
  metadata: { name: 'n', namespace: 's', uid: 'u', labels: { a: 'b' } },
};
const converted = { ...original, apiVersion: 'g/v2', spec: { a: [1] } } as JsonValue;

const READERS: readonly (readonly [string, JsonValue, (answer: JsonValue) => unknown])[] = [
  [
    'a conversion webhook',
    {
      ...{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' },
      response: { uid: 'u', result: { status: 'Success', message: 'm' }, convertedObjects: [converted] },
    },
    (answer) => {
      for (const value of convertedObjects(decodeReview(bytesOf(answer), types), 'v1beta1', 'u')) {
        const object = readConverted(value);
        assertSameType(original, object, 'g/v2');
        assertSameIdentity(original, object);
        withMetadataOf(original, object);
      }
    },
  ],
  [
    'an admission webhook',
    {
      ...{ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' },
      response: {
        ...{ uid: 'u', allowed: true, patchType: 'JSONPatch', patch: 'W10=' },
        ...{
          warnings: ['w'],
          auditAnnotations: { a: 'b' },
          status: { code: 400, details: { causes: [{}] } },
        },
      },
    },
    (answer) =>
      toVerdict(decodeAdmission(bytesOf(answer), 'v1', types), { version: 'v1', uid: 'u', mutating: true }),
  ],
  [
    'a token webhook',
    {
      ...{ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' },
      status: {
        authenticated: true,
        audiences: ['a'],
        user: { username: 'n', groups: ['g'], extra: { a: ['b'] } },
      },
    },
    (answer) => {
      const post = async (): Promise<JsonValue> => answer;
      const webhook = new TokenWebhook({
        version: 'v1',
        apiAudiences: ['a'],
        post,
        isTransient: () => false,
      });
      return webhook.authenticate('t', ['a']);
    },
  ],
  [
    'another server that documents itself',
    {
      parameters: { p: { name: 'p', in: 'query' } },
      paths: { '/apis/g/v1/x': { get: { parameters: [{ $ref: '#/parameters/p' }] }, parameters: [] } },
      definitions: { a: { properties: { x: { $ref: '#/definitions/a' } } } },
    },
    (answer) => readDocument(JSON.stringify(answer), [{ group: 'g', version: 'v1' }]),
  ],
];

test.each(READERS)(
  'every answer of %s is read or refused in words, and throws no TypeError',
  async (_, right, read) => {
    for (const answer of spoilt(right)) {
      try {
        await read(answer);
      } catch (error) {
        for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
          expect(cause, JSON.stringify(answer)).not.toBeInstanceOf(TypeError);
          expect(cause, JSON.stringify(answer)).not.toBeInstanceOf(RangeError);
        }
      }
    }
  },
);

test('a document takes along the parameters that it refers to', () => {
  const [, right] = READERS.at(-1) ?? [];
  const { paths } = readDocument(JSON.stringify(right), [{ group: 'g', version: 'v1' }]);
  expect(paths).toEqual({
    '/apis/g/v1/x': { get: { parameters: [{ name: 'p', in: 'query' }] }, parameters: [] },
  });
});
