import { expect, test } from 'vitest';
import { describeOtherGates, ELSEWHERE, parseFeatureGates } from '../../src/options/feature-gates.ts';

const FLAG = '--feature-gates';
const elsewhere = ELSEWHERE.flatMap(({ names }) => names.split(' '));

test('gates of other components are accepted either way, and each is named once', () => {
  expect(new Set(elsewhere).size).toBe(elsewhere.length);
  for (const name of elsewhere)
    for (const value of [true, false])
      expect(parseFeatureGates([`${name}=${value}`], FLAG).isEnabled(name)).toBe(value);
});

test('--help says of every gate that does nothing here why that is, or that it can only be left alone', () => {
  const text = describeOtherGates();
  expect(text).toMatch(/concern node agents alone \(accepted\): .*MemoryQoS/);
  expect(text).toMatch(/concern the node proxy alone \(accepted\): NFTablesProxyMode/);
  const [, rest = ''] = text.split('can only be left at their defaults: ');
  for (const name of rest.split(', '))
    expect(
      [true, false]
        .map((value) => {
          try {
            parseFeatureGates([`${name}=${value}`], FLAG);
            return 'accepted';
          } catch {
            return 'refused';
          }
        })
        .sort(),
      name,
    ).toEqual(['accepted', 'refused']);
});
