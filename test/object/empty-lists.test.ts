import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { emptyToNull } from '../../src/object/empty-lists.ts';

const types = loadTypes();

test.each<[string, JsonObject, JsonObject]>([
  ['rbac/v1.Role', { rules: [] }, { rules: null }],
  ['rbac/v1.Role', { rules: [{ verbs: ['get'] }] }, { rules: [{ verbs: ['get'] }] }],
  ['discovery/v1.EndpointSlice', { endpoints: [], ports: [] }, { endpoints: null, ports: null }],
  ['core/v1.LimitRange', { spec: { limits: [] } }, { spec: { limits: null } }],
  [
    'core/v1.Pod',
    { spec: { volumes: [{ projected: { sources: [] } }, { emptyDir: {} }] } },
    { spec: { volumes: [{ projected: { sources: null } }, { emptyDir: {} }] } },
  ],
  // A pointer to a struct is there even when it is empty.
  ['core/v1.Pod', { spec: { securityContext: {} } }, { spec: { securityContext: {} } }],
])('in a %s, empty lists that are always written become null: %j', (type, object, expected) => {
  emptyToNull(object, types.message(type));
  expect(object).toEqual(expected);
});
