import { expect, test } from 'vitest';
import { forbidden } from '../../src/api/status.ts';

test.each([
  ['', '', '', 'forbidden: no', {}],
  ['', 'pods', '', 'pods is forbidden: no', { kind: 'pods' }],
  [
    'apps',
    'deployments',
    'd',
    'deployments.apps "d" is forbidden: no',
    { kind: 'deployments', group: 'apps', name: 'd' },
  ],
])(
  'what is forbidden is named: group %j, resource %j, name %j',
  (group, resource, name, message, details) => {
    expect(forbidden({ group, resource }, name, 'no').status).toMatchObject({ code: 403, message, details });
  },
);
