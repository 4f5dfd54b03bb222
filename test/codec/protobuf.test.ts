import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { decodeEnvelope, encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
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
    { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } },
    types.message('core/v1.ConfigMap'),
  );
  const type = '0a0f' + '0a027631' + '1209436f6e6669674d6170';
  const metadata = '0a11' + '0a0161' + '1200' + '1a00' + '2200' + '2a00' + '3200' + '3800' + '4200';
  expect(bytes.toString('hex')).toBe(`6b387300${type}1213${metadata}1a002200`);
});
