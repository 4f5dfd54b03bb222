import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { decodeEnvelope, encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { BUILT_IN_RESOURCES } from '../../src/resources/all.ts';
import { RandomObjects } from './random-object.ts';

const types = loadTypes();

test('a random object of every built-in type goes JSON → protobuf → JSON unchanged', () => {
  for (const { versions } of BUILT_IN_RESOURCES) {
    for (const { type } of versions) {
      const schema = types.message(type);
      for (let seed = 1; seed <= 5; seed += 1) {
        const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
        const bytes = encodeEnvelope(object, schema);
        const back = decodeObject(decodeEnvelope(bytes, schema), schema);
        expect(back.object, `${type}, seed ${seed}`).toEqual(object);
        expect(back.unknown).toEqual([]);
      }
    }
  }
});

test('decoding twice changes nothing more', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    const once = decodeObject(new RandomObjects(7).object(schema), schema).object;
    expect(JSON.stringify(decodeObject(once, schema).object)).toBe(JSON.stringify(once));
  }
});

test('bytes that are no message are refused', () => {
  const schema = types.message('core/v1.Pod');
  expect(() => decodeEnvelope(Buffer.from('{}'), schema)).toThrow(/expected prefix/);
  const cut = encodeEnvelope(
    { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x'.repeat(50) } },
    schema,
  ).subarray(0, 30);
  expect(() => decodeEnvelope(cut, schema)).toThrow(SyntaxError);
});

test('the envelope is what Kubernetes writes', () => {
  const bytes = encodeEnvelope(
    { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } },
    types.message('core/v1.Pod'),
  );
  expect(bytes.toString('hex')).toBe('6b3873000a090a02763112' + '03506f641205' + '0a030a0161' + '1a002200');
});
