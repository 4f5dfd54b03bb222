import { expect, test } from 'vitest';
import { GATES } from '../../src/api/feature-gates.ts';
import { describeGates, ELSEWHERE, parseFeatureGates } from '../../src/options/feature-gates.ts';

const FLAG = '--feature-gates';
const elsewhere = ELSEWHERE.flatMap(({ names }) => names.split(' '));

test('gates of other components are accepted either way, and each is named once', () => {
  expect(new Set(elsewhere).size).toBe(elsewhere.length);
  for (const name of elsewhere)
    for (const value of [true, false])
      expect(parseFeatureGates([`${name}=${value}`], FLAG).isEnabled(name)).toBe(value);
});

test('the component is the cluster, by either of its names', () => {
  for (const component of ['cluster', 'kube'])
    expect(parseFeatureGates([`${component}:ImageVolume=true`], FLAG).isEnabled('ImageVolume')).toBe(true);
  expect(() => parseFeatureGates(['other:ImageVolume=true'], FLAG)).toThrow('unknown component "other"');
});

test('--help tells stage and default of every gate, and whom it concerns if nobody here', () => {
  const lines = describeGates();
  expect(lines.map((line) => line.split(' ')[0])).toEqual([...GATES.keys()].sort());
  expect(lines).toContain('ImageVolume (alpha, default false)');
  expect(lines).toContain('NodeSwap (beta, default true; concerns node agents alone)');
});

test('--help says of a gate that it can only be left alone if and only if that is so', () => {
  for (const line of describeGates()) {
    const [name = ''] = line.split(' ');
    const isAccepted = [true, false].map((value) => {
      try {
        return parseFeatureGates([`${name}=${value}`], FLAG).isEnabled(name) === value;
      } catch {
        return false;
      }
    });
    expect(isAccepted.includes(false), name).toBe(line.includes('can only be left as it is'));
  }
});
