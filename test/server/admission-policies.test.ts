import { expect, test } from 'vitest';
import { ALLOW, type AuthorizationAttributes } from '../../src/authz/authorizer.ts';
import { rightsBy } from '../../src/server/admission-policies.ts';

const user = { username: 'u', uid: '', groups: [], extra: {} };
const question = {
  kind: 'resource',
  verb: 'list',
  ...{ group: '', resource: 'pods', subresource: '', namespace: 'shop', name: '' },
  fieldSelector: 'spec.nodeName=n',
} as const;

test('a policy asks about some objects with AuthorizeWithSelectors, and about all without', async () => {
  const asked: AuthorizationAttributes[] = [];
  const authorizer = {
    authorize: (attributes: AuthorizationAttributes) => {
      asked.push(attributes);
      return ALLOW;
    },
    rules: () => ({ resourceRules: [], nonResourceRules: [] }),
  };
  for (const selects of [true, false]) await rightsBy(authorizer, selects).decide(user, question);
  const [withSelectors, without] = asked;
  expect(withSelectors?.selectors?.fields).toEqual([{ field: 'spec.nodeName', negated: false, value: 'n' }]);
  expect(without?.selectors).toBeUndefined();
  expect(withSelectors?.target).toEqual({
    ...{
      group: '',
      version: '*',
      resource: 'pods',
      subresource: '',
      namespace: 'shop',
      name: '',
      subpath: '',
    },
  });
});
