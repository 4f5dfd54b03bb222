import { expect, test } from 'vitest';
import { checkExposure } from '../../src/options/authorization.ts';
import { UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';

const check = (...flags: string[]) => {
  const { serving, authorization } = parseOptions(flags);
  checkExposure(serving, authorization);
};

test.each([
  [[]],
  [['--bind-address=10.1.2.3']],
  [['--bind-address=']],
  [['--bind-address=::']],
  [['--bind-address=::ffff:10.0.0.1']],
  [['--bind-address=128.0.0.1']],
  [['--authorization-mode=']],
  [['--authorization-webhook-version=v1']],
])('%j declare no authorization, and the server names the flag to add', (flags) => {
  expect(() => check(...flags)).toThrow(UsageError);
  expect(() => check(...flags)).toThrow(
    /^--authorization-mode is not given.* add --authorization-mode=Node,RBAC, [^\n]*$/,
  );
});

test.each([
  [['--bind-address=127.0.0.1']],
  [['--bind-address=127.1.2.3']],
  [['--bind-address=::1']],
  [['--authorization-mode=AlwaysAllow']],
  [['--authorization-mode=RBAC,AlwaysAllow', '--bind-address=::']],
  [['--authorization-mode=Node,RBAC']],
  [['--authorization-config=chain.yaml']],
])('with %j the server starts', (flags) => {
  expect(() => check(...flags)).not.toThrow();
});

test('a file of authorizers needs its feature', () => {
  const off = '--feature-gates=StructuredAuthorizationConfiguration=false';
  expect(() => check('--authorization-config=chain.yaml', off)).toThrow(
    '--authorization-config needs --feature-gates=StructuredAuthorizationConfiguration=true',
  );
});
