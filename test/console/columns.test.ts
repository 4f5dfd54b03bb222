import { expect, test } from 'vitest';
import { columnsThatFit, compareCells, widthOf } from '../../src/console/model/column-widths.ts';
import { toneOf, wordsFor } from '../../src/console/model/words.ts';

test('where there is room for some columns, they are those that tell most, in the order of the table', () => {
  const columns = ['Name', 'Ready', 'Status', 'Restarts', 'Age'].map((name) => ({ name, width: 10 }));
  expect(columnsThatFit(columns, 100)).toEqual([0, 1, 2, 3, 4]);
  expect(columnsThatFit(columns, 30)).toEqual([0, 1, 2]);
  expect(columnsThatFit(columns, 5)).toEqual([0]);
});

test('a column is as wide as what is in it, within reason', () => {
  expect(widthOf('Age', ['5s'])).toBeLessThan(widthOf('Name', ['a-rather-long-name']));
  expect(widthOf('Name', ['x'.repeat(100_000)])).toBeLessThan(60);
});

test('cells are sorted by size where they are numbers, and as people count where they are text', () => {
  expect([10, 9, 100].toSorted(compareCells)).toEqual([9, 10, 100]);
  expect(['pod-10', 'pod-9', 'Pod-1'].toSorted(compareCells)).toEqual(['Pod-1', 'pod-9', 'pod-10']);
});

test('what is wrong looks wrong', () => {
  expect(toneOf('Status', 'Running')).toBe('good');
  expect(toneOf('Status', 'ImagePullBackOff')).toBe('bad');
  expect(toneOf('Ready', '1/2')).toBe('wait');
  expect(toneOf('Ready', '2/2')).toBe('none');
  expect(toneOf('Name', 'error')).toBe('none');
});

test('each error says in words what happened and what to do', () => {
  const of = (code: number): string => wordsFor({ code, message: 'm' }).title;
  expect([0, 401, 403, 404, 410, 429, 500, 422].map(of)).toEqual([
    'The server cannot be reached',
    'You are not signed in',
    'You may not see this',
    'This does not exist',
    'History does not reach back that far',
    'The server is busy',
    'The server could not answer',
    'The server refused this',
  ]);
  expect(wordsFor({ code: 410, message: 'asOf: history is kept from revision 7' })).toMatchObject({
    detail: 'history is kept from revision 7',
    remedy: 'now',
  });
});
