import { expect, test } from 'vitest';
import { Rounds } from '../../src/admission/rounds.ts';
import { attributesOf, toObject } from '../kit/admission.ts';

const write = () => attributesOf('configmaps', { object: toObject({ kind: 'ConfigMap', data: { a: '1' } }) });

test('the first round includes all, and the second one those that wait for a later change', () => {
  const rounds = new Rounds();
  const attributes = write();
  const first = rounds.begin(attributes);
  expect(first.includes('early')).toBe(true);
  first.waits('early');
  first.changed();
  first.waits('late');
  expect(first.end(attributes.object)).toBe('reinvoke');
  const second = rounds.begin(attributes);
  expect([second.number, second.includes('early'), second.includes('late')]).toEqual([1, true, false]);
  expect(second.end(attributes.object)).toBeUndefined();
});

test.each([
  ['another plugin changed the object', { a: '2' }, true],
  ['another plugin wanted a second round and changed nothing', { a: '1' }, false],
])('after a round without a change, %s', (_, data, isAgain) => {
  const rounds = new Rounds();
  const attributes = write();
  const first = rounds.begin(attributes);
  first.waits('policy');
  expect(first.end(attributes.object)).toBeUndefined();
  Object.assign(attributes.object ?? {}, { data });
  expect(rounds.begin(attributes).includes('policy')).toBe(isAgain);
});
