import { expect, test } from 'vitest';
import { invalid, type StatusError } from '../../src/api/status.ts';
import { invalidValue } from '../../src/object/field-errors.ts';
import { errorForms } from '../../src/storage/error-forms.ts';
import { StorageError } from '../../src/storage/errors.ts';
import { isPassing } from '../../src/storage/postgres/connection/trouble.ts';

const across = (error: unknown): Error => errorForms.fromValue(structuredClone(errorForms.toValue(error)));

test('another thread can tell whether an error passes by itself', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const passing = [
    refused,
    new AggregateError([refused], 'all addresses failed'),
    new Error('the keys cannot be read', { cause: refused }),
    new Error('the keys cannot be read', {
      cause: new StorageError({ kind: 'unavailable', reason: 'it starts' }),
    }),
  ];
  for (const error of passing) {
    expect(across(error).message).toBe(error.message);
    expect(isPassing(across(error)), error.message).toBe(true);
  }
  expect(isPassing(across(Object.assign(new Error('no such role'), { code: '28000' })))).toBe(false);
  expect(isPassing(across(new Error('a defect')))).toBe(false);
});

test('a status keeps the words of each version', () => {
  const error = invalid({ kind: 'Pod', group: '' }, 'p', [invalidValue('spec.a', ['b'], 'is wrong')]);
  const passed = across(error) as StatusError;
  for (const minor of [33, 34] as const)
    expect(passed.inVersion(minor).status).toEqual(error.inVersion(minor).status);
  expect(passed.inVersion(34).message).not.toBe(passed.inVersion(33).message);
});
