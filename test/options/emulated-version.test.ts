import { expect, test } from 'vitest';
import { MINORS, toVersion } from '../../src/api/emulation.ts';
import { gatesOf } from '../../src/api/feature-gates.ts';
import { UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';
import { DEFAULT_MINOR, versionOf } from '../../src/version.ts';

const apiOf = (...args: string[]) => parseOptions(args).api;

test('each version from 1.31 to 1.36 can be emulated, and 1.31 is the default', () => {
  expect(apiOf().emulated).toBe(31);
  for (const minor of MINORS) {
    expect(apiOf(`--emulated-version=${toVersion(minor)}`).emulated).toBe(minor);
    expect(apiOf(`--emulated-version=kube=${toVersion(minor)}`).emulated).toBe(minor);
    expect(versionOf(minor)).toMatchObject({ major: '1', minor: String(minor) });
    expect(versionOf(minor).gitVersion).toMatch(new RegExp(`^v1\\.${minor}\\.0\\+pg-apiserver`));
  }
});

test.each([
  ['--emulated-version=1.37', '"1.37" is not available: this server emulates 1.31 to 1.36'],
  ['--emulated-version=v1.33', '"v1.33" is not available'],
  ['--emulated-version=etcd=1.33', 'unknown component "etcd"'],
  ['--emulated-version=1.33,1.34', 'the version of cluster is given twice'],
])('%s is refused', (flag, message) => {
  expect(() => apiOf(flag)).toThrow(UsageError);
  expect(() => apiOf(flag)).toThrow(message);
});

test('a gate has the stage and the default that the emulated version gives it', () => {
  const isOn = (minor: string, gate: string): boolean =>
    apiOf(`--emulated-version=${minor}`).featureGates.isEnabled(gate);
  // The lists of Kubernetes: on in 1.32, off in 1.33, on again since 1.34.
  expect(['1.31', '1.32', '1.33', '1.34'].map((minor) => isOn(minor, 'WatchList'))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(gatesOf(32).get('PodLevelResources')).toEqual({ stage: 'Alpha', on: false, isLocked: false });
  expect(gatesOf(34).get('PodLevelResources')).toEqual({ stage: 'Beta', on: true, isLocked: false });
});

test('a gate is unknown before its version, and locked once it has graduated', () => {
  const gate = '--feature-gates=HostnameOverride=true';
  expect(() => apiOf(gate)).toThrow('gate HostnameOverride came with 1.34, which is not emulated');
  expect(apiOf('--emulated-version=1.34', gate).featureGates.isEnabled('HostnameOverride')).toBe(true);
  const off = '--feature-gates=RetryGenerateName=false';
  expect(apiOf(off).featureGates.isEnabled('RetryGenerateName')).toBe(false);
  expect(() => apiOf('--emulated-version=1.32', off)).toThrow(
    'RetryGenerateName cannot be false: 1.32 locks it to true',
  );
});

test('AllAlpha and AllBeta concern the gates that are alpha and beta in the emulated version', () => {
  const beta = apiOf('--emulated-version=1.33', '--feature-gates=AllBeta=false').featureGates;
  expect(beta.isEnabled('SELinuxChangePolicy')).toBe(false);
  const alpha = apiOf('--emulated-version=1.32', '--feature-gates=AllAlpha=true').featureGates;
  expect(alpha.isEnabled('SELinuxChangePolicy')).toBe(true);
});

test('every version keeps the gates of the one before it', () => {
  for (const minor of MINORS) {
    if (minor === DEFAULT_MINOR) continue;
    const before = [...gatesOf(MINORS[MINORS.indexOf(minor) - 1] ?? DEFAULT_MINOR).keys()];
    expect([...gatesOf(minor).keys()]).toEqual(expect.arrayContaining(before));
  }
});

test('a plugin is there from its version on', () => {
  const pluginsOf = (...args: string[]) => parseOptions(args).admission.plugins;
  expect(pluginsOf()).not.toContain('MutatingAdmissionPolicy');
  const plugins = pluginsOf('--emulated-version=1.32');
  expect(plugins.slice(plugins.indexOf('MutatingAdmissionPolicy')).slice(0, 3)).toEqual([
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
  ]);
  const off = '--disable-admission-plugins=MutatingAdmissionPolicy';
  expect(pluginsOf('--emulated-version=1.36', off)).not.toContain('MutatingAdmissionPolicy');
  expect(() => pluginsOf(off)).toThrow(
    '--disable-admission-plugins: Kubernetes 1.31, which is emulated, has no plugin MutatingAdmissionPolicy',
  );
});
