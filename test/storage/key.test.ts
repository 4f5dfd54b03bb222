import { expect, test } from 'vitest';
import { LAST_POSITION, parsePosition, toPosition } from '../../src/storage/key.ts';

const NAMES = [
  '',
  '!',
  'a',
  'a.b',
  'z',
  '\u00e9',
  '\ud7ff',
  '\ue000',
  '\uf8ff',
  '\uff21',
  '\uffff',
  '\u{10000}',
  '\u{1f600}',
  '\u{10ffff}',
];

test('positions are in the order of the bytes of their names, as PostgreSQL has them, and are read back', () => {
  const all = NAMES.flatMap((first) =>
    NAMES.map((second) => ({ namespace: 'ns', name: `${first}${second}` })),
  );
  const byBytes = all.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  const byPosition = all.map(toPosition).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  expect(byPosition.map(parsePosition)).toEqual(byBytes);
  for (const position of byPosition) expect(position < `ns\0${LAST_POSITION}`).toBe(true);
});
