import { expect, test } from 'vitest';
import { GATES } from '../../src/api/feature-gates.ts';
import { describeGates, EFFECTIVE, ELSEWHERE, parseFeatureGates } from '../../src/options/feature-gates.ts';

const FLAG = '--feature-gates';
const elsewhere = ELSEWHERE.flatMap(({ names }) => names.split(' '));

test('every gate can be turned on and off', () => {
  for (const name of GATES.keys())
    for (const value of [true, false])
      expect(parseFeatureGates([`${name}=${value}`], FLAG).isEnabled(name)).toBe(value);
});

test('the component is the cluster, by either of its names', () => {
  for (const component of ['cluster', 'kube'])
    expect(parseFeatureGates([`${component}:ImageVolume=true`], FLAG).isEnabled('ImageVolume')).toBe(true);
  expect(() => parseFeatureGates(['other:ImageVolume=true'], FLAG)).toThrow('unknown component "other"');
});

test('--help shows stage and default of every gate, and whom it concerns if not this server', () => {
  const lines = describeGates();
  expect(lines.map((line) => line.split(' ')[0])).toEqual([...GATES.keys()].sort());
  expect(lines).toContain('ImageVolume (alpha, default false)');
  expect(lines).toContain('NodeSwap (beta, default true; concerns node agents alone)');
});

test('every gate of the specification does something here, or is said to concern others', () => {
  const all = [...EFFECTIVE, ...elsewhere];
  expect(all.sort()).toEqual([...GATES.keys()].sort());
});

test('a gate of the ecosystem is taken under the name that it has there', () => {
  for (const [name, ours] of [
    ['KubeletTracing', 'AgentTracing'],
    ['RotateKubeletServerCertificate', 'RotateAgentServerCertificate'],
    ['CSIMigrationPortworx', 'CSIMigrationStorageVendor'],
  ] as const)
    expect(parseFeatureGates([`${name}=false`], FLAG).isEnabled(ours)).toBe(false);
});
