import { expect, test } from 'vitest';
import { type FieldError, invalid } from '../../src/api/status.ts';
import {
  boundedProblems,
  invalidValue,
  longerThan,
  required,
  tooLong,
  tooMany,
} from '../../src/object/field-errors.ts';

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

test.each([
  [
    tooLong('f', 5),
    'must have at most 5 bytes',
    'may not be more than 5 bytes',
    'may not be more than 5 bytes',
  ],
  [
    tooLong('f', 1),
    'must have at most 1 bytes',
    'may not be more than 1 bytes',
    'may not be more than 1 byte',
  ],
  [
    longerThan('f', 5),
    'may not be longer than 5',
    'may not be more than 5 bytes',
    'may not be more than 5 bytes',
  ],
  [tooMany('f', 3, 2), 'must have at most 2 items', 'must have at most 2 items', 'must have at most 2 items'],
  [tooMany('f', 3, 1), 'must have at most 1 items', 'must have at most 1 items', 'must have at most 1 item'],
])('a limit has the words of each version: %j', (error, ...words) => {
  const refused = invalid({ kind: 'Pod', group: '' }, 'x', [error, invalidValue('g', null, 'why')]);
  for (const [at, minor] of ([31, 32, 34] as const).entries()) {
    const { message, details } = refused.inVersion(minor).status;
    expect(message).toContain(`: ${words[at]}, g: Invalid value: ${minor === 34 ? 'null' : '"null"'}: why]`);
    expect(details?.causes?.[0]?.message).toContain(words[at]);
    expect(Object.keys(details?.causes?.[0] ?? {}).sort()).toEqual(['field', 'message', 'reason']);
  }
});
