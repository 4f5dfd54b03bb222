import { describe, expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { validateImmutable } from '../../src/object/validate-schema.ts';

const types = loadTypes();
const problems = (type: string, object: object, old: object): string[] =>
  validateImmutable({ ...object }, { ...old }, types.message(type)).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe('a field that the IDL calls immutable', () => {
  test('keeps its value', () => {
    expect(problems('node/v1.RuntimeClass', { handler: 'b' }, { handler: 'a' })).toEqual([
      'handler: Invalid value: "b": field is immutable',
    ]);
    expect(problems('node/v1.RuntimeClass', { handler: 'a' }, { handler: 'a' })).toEqual([]);
  });

  test('keeps it within other fields too, in the order of the type', () => {
    const topology = (key: string): object => ({
      nodeTopology: { matchLabels: { key } },
      storageClassName: key,
    });
    expect(
      problems('storage/v1.CSIStorageCapacity', topology('a'), topology('b')).map((one) => one.split(':')[0]),
    ).toEqual(['nodeTopology', 'storageClassName']);
    const candidate = (leaseName: string): object => ({ spec: { leaseName } });
    expect(problems('coordination/v1alpha1.LeaseCandidate', candidate('b'), candidate('a'))).toEqual([
      'spec.leaseName: Invalid value: "b": field is immutable',
    ]);
  });

  test('can neither come nor go', () => {
    expect(problems('networking/v1.IngressClass', { spec: {} }, { spec: { controller: 'a.io/b' } })).toEqual([
      'spec.controller: Invalid value: "null": field is immutable',
    ]);
    expect(problems('networking/v1.IngressClass', { spec: { controller: 'a.io/b' } }, {})).toHaveLength(1);
    expect(problems('networking/v1.IngressClass', { spec: {} }, {})).toEqual([]);
  });
});
