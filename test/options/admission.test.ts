import { expect, test } from 'vitest';
import { ADMISSION_PLUGINS } from '../../src/admission/all-plugins.ts';
import { parseOptions } from '../../src/options/options.ts';

const pluginsOf = (...args: string[]): readonly string[] => parseOptions(args).admission.plugins;

test('the twenty default plugins are on, and run in one order whatever the order of the flags', () => {
  expect(pluginsOf()).toHaveLength(20);
  expect(pluginsOf()).toEqual(ADMISSION_PLUGINS.filter(({ isDefault }) => isDefault).map(({ name }) => name));
  const plugins = pluginsOf(
    '--enable-admission-plugins=AlwaysDeny,NodeRestriction',
    '--disable-admission-plugins=Priority,LimitRanger',
  );
  const expected = ADMISSION_PLUGINS.filter(
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
