import { expect, test } from 'vitest';
import { allMatch, compileMatchCondition } from '../../../src/authz/config/webhook-config.ts';

const spec = { user: 'ann', groups: ['a'], resourceAttributes: { namespace: 'shop', verb: 'get' } };

test('conditions see the spec of a review', () => {
  const matches = (...conditions: string[]) => allMatch(conditions.map(compileMatchCondition))(spec);
  expect(matches('has(request.resourceAttributes)', "request.resourceAttributes.namespace == 'shop'")).toBe(
    true,
  );
  expect(matches("!('a' in request.groups)")).toBe(false);
  expect(matches("request.nonResourceAttributes.path == '/'", 'false')).toBe(false);
  expect(() => matches("request.nonResourceAttributes.path == '/'")).toThrow('No such key');
  expect(() => matches('request.user')).toThrow('it gave no boolean');
  expect(() => compileMatchCondition('1 + 1')).toThrow('must evaluate to bool');
  expect(() => compileMatchCondition('request.')).toThrow('got EOF');
});
