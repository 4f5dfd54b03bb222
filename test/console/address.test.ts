import { expect, test } from 'vitest';
import { type Address, formatAddress, parseAddress } from '../../src/console/model/address.ts';

test('an address that was shared is the page that it was taken from', () => {
  const addresses: Address[] = [
    { page: 'list', resource: 'pods', params: { ns: 'shop', q: 'a b&c', sort: '-Age' } },
    { page: 'changes', params: { who: 'system:serviceaccount:a:b', verb: 'delete', rev: '17' } },
    {
      ...{ page: 'object', resource: 'deployments.apps', namespace: 'shop', name: 'web' },
      params: { tab: 'diff', from: '3', to: '7', at: '2026-01-31T12:00:00.123Z' },
    },
    {
      page: 'object',
      resource: 'clusterroles.rbac.authorization.k8s.io',
      namespace: '',
      name: 'system:a/b?c#d%',
      params: {},
    },
  ];
  for (const address of addresses) expect(parseAddress(formatAddress(address))).toEqual(address);
});

test('a malformed address leads to a page, and takes over no parameter that the page does not know', () => {
  expect(parseAddress('')).toEqual({ page: 'list', resource: '', params: {} });
  expect(parseAddress('#/object/pods')).toMatchObject({ page: 'list' });
  expect(parseAddress('#/%zz/x?token=secret&__proto__=1&at=5')).toEqual({
    page: 'list',
    resource: '',
    params: { at: '5' },
  });
});
