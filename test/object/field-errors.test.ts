import { expect, test } from 'vitest';
import { type FieldError, invalid } from '../../src/api/status.ts';
import { boundedProblems, invalidValue, required } from '../../src/object/field-errors.ts';

test('a walk that finds little is not changed', () => {
  const found = boundedProblems(() => [required('a'), invalidValue('b', 'x', 'why')].slice(1));
  expect(found.map(({ field }) => field)).toEqual(['b']);
});

test('a walk ends where it has found enough, by number or by length', () => {
  let walked = 0;
  const walk = (value: string) => (): FieldError[] => {
    walked = 0;
    const errors: FieldError[] = [];
    for (; walked < 100_000; walked += 1) errors.push(invalidValue('a', value, 'why'));
    return errors;
  };
  expect(boundedProblems(walk('x'))).toHaveLength(5000);
  expect(walked).toBeLessThan(5000);
  expect(boundedProblems(walk('x'.repeat(100_000))).length).toBeLessThan(20);
  expect(walked).toBeLessThan(20);
});

test('one walk inside of another, or one that fails, leaves the other alone', () => {
  const found = boundedProblems(() => {
    boundedProblems(() => Array.from({ length: 9000 }, () => required('inner')));
    expect(() =>
      boundedProblems(() => {
        throw new Error('a mistake');
      }),
    ).toThrow('a mistake');
    return Array.from({ length: 4000 }, () => required('outer'));
  });
  expect(found).toHaveLength(4000);
});

test('an answer lists a thousand of them', () => {
  const { status } = invalid(
    { kind: 'Pod', group: '' },
    'x',
    Array.from({ length: 4000 }, () => required('a')),
  );
  expect(status.details?.causes).toHaveLength(1000);
  expect(status.message).toMatch(/a: Required value, and more\]$/);
});
