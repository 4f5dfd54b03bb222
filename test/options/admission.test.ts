import { expect, test } from 'vitest';
import { pluginsOf as pluginsOfVersion } from '../../src/admission/all-plugins.ts';
import { parseOptions } from '../../src/options/options.ts';

const ALL = pluginsOfVersion(31);
const pluginsOf = (...args: string[]): readonly string[] => parseOptions(args).admission.plugins;

test('the twenty default plugins are on, and run in one order for every order of the flags', () => {
  expect(pluginsOf()).toHaveLength(20);
  const known = ALL.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  expect(pluginsOf()).toEqual(known);
  const plugins = pluginsOf(
    '--enable-admission-plugins=AlwaysDeny,NodeRestriction',
    '--disable-admission-plugins=Priority,LimitRanger',
  );
  const expected = ALL.filter(
    ({ name, isDefault }) =>
      (isDefault && name !== 'Priority' && name !== 'LimitRanger') ||
      name === 'AlwaysDeny' ||
      name === 'NodeRestriction',
  ).map(({ name }) => name);
  expect(plugins).toEqual(expected);
});

test.each([
  [
    ['--enable-admission-plugins=PodSecurty'],
    /--enable-admission-plugins: no plugin is called "PodSecurty".*PodSecurity/,
  ],
  [
    ['--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority'],
    /--enable-admission-plugins and --disable-admission-plugins both name Priority/,
  ],
])('%j is refused', (args, message) => {
  expect(() => parseOptions(args)).toThrow(message);
});
