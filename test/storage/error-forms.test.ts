import { expect, test } from 'vitest';
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
