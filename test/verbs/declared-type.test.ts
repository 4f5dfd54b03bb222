import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { eviction } from '../../src/resources/pod/eviction.ts';
import { declaredType, mismatchOf } from '../../src/verbs/declared-type.ts';

test.each(['v1', '/v1', '/', ''])('the core group may be written as %j', (apiVersion) => {
  const types = loadTypes();
  const schema = types.message('core/v1.ConfigMap');
  const expected = { group: '', version: 'v1', kind: 'ConfigMap', schema, types };
  const declared = declaredType({ apiVersion, kind: 'ConfigMap' }, expected);
  expect(declared).toEqual({ apiVersion: 'v1', version: 'v1', kind: 'ConfigMap' });
  expect(mismatchOf(declared, expected)).toBeUndefined();
});

test.each(['', 'policy/v1', 'policy/v1beta1', 'policy/v1alpha1'])(
  'an eviction of version %j',
  (apiVersion) => {
    const types = loadTypes();
    const { alsoFrom, served, type } = eviction;
    const expected = { ...served, schema: types.message(type), types, alsoFrom };
    const mismatch = mismatchOf(declaredType({ apiVersion, kind: 'Eviction' }, expected), expected);
    expect(mismatch?.kind).toBe(apiVersion === 'policy/v1alpha1' ? 'other-type' : undefined);
  },
);
