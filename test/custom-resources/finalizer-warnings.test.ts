import { expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import { strategyOf } from '../../src/custom-resources/custom-strategy.ts';

function warningsIn(minor: Minor, finalizers: string[], before?: string[]): string[] {
  const object = (names: string[]) => ({
    ...{ kind: 'Widget', apiVersion: 'example.com/v1' },
    metadata: { name: 'w', finalizers: names },
  });
  const isOn = Object.assign(() => false, { minor });
  const old = before === undefined ? undefined : object(before);
  return strategyOf({ hasStatus: false }).warnings?.(object(finalizers), old, isOn) ?? [];
}

const warning = (name: string, what: string): string =>
  `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${what} to avoid accidental conflicts with other finalizer writers`;

test('new finalizers without a path are warned of, those with a domain in words of their own since 1.32', () => {
  for (const minor of MINORS) {
    expect(warningsIn(minor, ['example.com/f', 'orphan', 'foregroundDeletion', 'kubernetes'])).toEqual([]);
    expect(warningsIn(minor, ['plain', 'example.com'])).toEqual([
      warning('plain', ''),
      warning('example.com', minor === 31 ? '' : ' including a path (/)'),
    ]);
    expect(warningsIn(minor, ['plain', 'other'], ['plain'])).toEqual([warning('other', '')]);
  }
});
