import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { declaredType, mismatchOf } from '../../src/verbs/declared-type.ts';

test.each(['v1', '/v1', '/', ''])('the core group may be written as %j', (apiVersion) => {
  const types = loadTypes();
  const schema = types.message('core/v1.ConfigMap');
  const expected = { group: '', version: 'v1', kind: 'ConfigMap', schema, types };
  const declared = declaredType({ apiVersion, kind: 'ConfigMap' }, expected);
  expect(declared).toEqual({ apiVersion: 'v1', version: 'v1', kind: 'ConfigMap' });
  expect(mismatchOf(declared, expected)).toBeUndefined();
});
