import { expect, test } from 'vitest';
import { createHeaderStripper } from '../../src/authn/front-proxy.ts';

test('the headers of front proxies are taken away, also from names that programs fold into them', () => {
  const strip = createHeaderStripper({
    usernames: ['X-Our.User'],
    uids: ['X-Our-Id'],
    groups: ['X-Our-Group'],
    extra: ['X-Our-'],
  });
  const headers = {
    ...{
      authorization: 'a',
      'x-remote-user': 'a',
      x_remote_user: 'a',
      'x-remote-uid': 'a',
      'x_our-id': 'a',
      'x-remote_group': 'a',
      'x_remote-extra.a': 'a',
    },
    ...{
      'x-our.user': 'a',
      'x-our_user': 'a',
      x_our_group: 'a',
      x_our_team: 'a',
      'x-ours': 'kept',
      'x-remote': 'kept',
    },
  };
  strip(headers);
  expect(headers).toEqual({ 'x-ours': 'kept', 'x-remote': 'kept' });
});
