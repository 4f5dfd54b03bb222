import { expect, test } from 'vitest';
import { hidePasswords } from '../../src/util/hidden-passwords.ts';

test('passwords of any characters are hidden in URLs anywhere in an argument', () => {
  expect(hidePasswords('--kvstore-servers=postgres://u:secret@h/d,postgres://v:secret2@h:1/d?x=1')).toBe(
    '--kvstore-servers=postgres://u:…@h/d,postgres://v:…@h:1/d?x=1',
  );
  for (const password of ['a@b', 'a/b', 'a:b', 'a,b', 'a#b', 'postgres:'])
    expect(hidePasswords(`postgres://u:${password}@h/d`), password).toBe('postgres://u:…@h/d');
  expect(hidePasswords('postgres:///d?user=u&password=secret&sslmode=disable')).toBe(
    'postgres:///d?user=u&password=…&sslmode=disable',
  );
});

test('what holds no password stays as it is', () => {
  for (const argument of [
    '--secure-port=6443',
    'https://h:8443/path',
    'postgres://u@h:5432/d',
    '/usr/bin/node',
  ])
    expect(hidePasswords(argument)).toBe(argument);
});
