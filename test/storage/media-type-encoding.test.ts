import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { storedTypesIn } from '../../src/server/built-in-names.ts';
import { MediaTypeEncoding, type StoredMediaType } from '../../src/storage/media-type-encoding.ts';
import { RandomObjects } from '../codec/random-object.ts';

const types = loadTypes('all');
const JSON_TYPE = 'application/json';
const WIDGETS = { group: 'example.com', resource: 'widgets' };
const PODS = { group: '', resource: 'pods' };

const encodingOf = (mediaType: StoredMediaType, minor: Minor = 31): MediaTypeEncoding =>
  new MediaTypeEncoding({
    mediaType,
    schemaOf: (resource) => {
      const type = storedTypesIn(minor)(resource);
      return type === undefined ? undefined : types.message(type);
    },
  });

const keyOf = (resource: typeof PODS) => ({ ...resource, namespace: 'default', name: 'a' });

test.each([
  ['application/yaml', 31],
  ['application/vnd.kubernetes.protobuf', 31],
  ['application/vnd.kubernetes.protobuf', 36],
] as const)(
  'a stored object of every built-in type goes to %s and back without a changed byte, in 1.%d',
  (mediaType, minor) => {
    const encoding = encodingOf(mediaType, minor);
    for (const { storage } of builtInResources(minor)) {
      const schema = types.message(storage.type);
      for (let seed = 1; seed <= 3; seed += 1) {
        const random = { metadata: { name: 'a' }, ...new RandomObjects(seed).object(schema) };
        const { object } = decodeObject(random, schema);
        const bytes = toStoredJson(object as ApiObject);
        const stored = encoding.encode(keyOf(storage), { bytes, mediaType: JSON_TYPE });
        expect(stored.mediaType).toBe(mediaType);
        expect(encoding.handles(mediaType)).toBe(true);
        const back = encodingOf('application/json', minor).decode(keyOf(storage), stored);
        expect(back, `${storage.type}, seed ${seed}`).toEqual({ bytes, mediaType: JSON_TYPE });
      }
    }
  },
);

test('custom resources stay JSON, and so does what is to be JSON', () => {
  const plain = { bytes: Buffer.from('{"kind":"Widget"}'), mediaType: JSON_TYPE };
  expect(encodingOf('application/yaml').encode(keyOf(WIDGETS), plain)).toBe(plain);
  expect(encodingOf('application/yaml').formOf(WIDGETS, JSON_TYPE)).toBe(JSON_TYPE);
  expect(encodingOf('application/json').encode(keyOf(PODS), plain)).toBe(plain);
  expect(encodingOf('application/yaml').formOf(PODS, JSON_TYPE)).toBe('application/yaml');
});

test.each([
  ['application/yaml', 'nonsense'],
  ['application/vnd.kubernetes.protobuf', 'nonsense'],
  ['application/vnd.kubernetes.protobuf', 'k8s\0\u0001'],
])('bytes that are no %s are refused', (mediaType, text) => {
  const stored = { bytes: Buffer.from(text), mediaType };
  expect(() => encodingOf('application/json').decode(keyOf(PODS), stored)).toThrow();
});
