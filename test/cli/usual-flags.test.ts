import { expect, test } from 'vitest';
import { usualFlags } from '../../src/cli/usual-flags.ts';

const [BIND, MODE, PLUGIN] = [
  '--bind-address=127.0.0.1',
  '--authorization-mode=Node,RBAC',
  '--enable-admission-plugins=NodeRestriction',
];

test.each([
  [[], [BIND, MODE, PLUGIN]],
  [
    ['--bind-address', '0.0.0.0'],
    [MODE, PLUGIN],
  ],
  [['-bind-address=::'], [MODE, PLUGIN]],
  [['--authorization-mode=RBAC'], [BIND, PLUGIN]],
  [['--authorization-config=chain.yaml'], [BIND, PLUGIN]],
  // What goes with a mode does not take the mode away.
  [['--authorization-webhook-version=v1'], [BIND, MODE, PLUGIN]],
  [
    ['--authorization-webhook-cache-authorized-ttl', '1m'],
    [BIND, MODE, PLUGIN],
  ],
  [['--authorization-policy-file=x'], [BIND, MODE, PLUGIN]],
  [['--enable-admission-plugins=AlwaysPullImages'], [BIND, MODE, PLUGIN]],
  [['--disable-admission-plugins=Priority,NodeRestriction'], [BIND, MODE]],
  [
    ['--disable-admission-plugins', 'NodeRestriction'],
    [BIND, MODE],
  ],
  [['--disable-admission-plugins=Priority'], [BIND, MODE, PLUGIN]],
])('npm start -- %j adds %j', (given, added) => {
  expect(usualFlags(given)).toEqual(added);
});
