import { expect, test } from 'vitest';
import { parseWithNumbers } from '../../src/object/marked-numbers.ts';
import { cases } from '../kit/cases.ts';

const PIECES = ['1', '0', '-', '+', '.', 'e', 'E', '"', '\\', '[', ']', '{', '}', ',', ':', ' ', 'a', 'null'];

/** What JSON.parse says of each number by itself. */
function parseByReviver(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined ? `number ${source}` : value,
  );
}

const parse = (text: string): unknown => parseWithNumbers(text, (source) => `number ${source}`);

function outcomeOf(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch {
    return 'refused';
  }
}

test('numbers anywhere are read as they are written, and what is no JSON is refused as JSON.parse refuses it', () => {
  const texts = [
    '{"a":1.0,"b":[-0,1e3,{"c":"1.0","1.0":2}],"a":3.50}',
    '{"__proto__":{"x":1.5},"1.5":1.5}',
    '{1.5:2}',
    '{1.5 :2}',
    '[1.5"x"]',
    '[01.5]',
    '[1.5.5]',
    '[+1.5]',
    '[-]',
    '[1.]',
    '[.5]',
    '[1.5x]',
    '["\\"1.5"]',
    ' 12.50 ',
    '',
  ];
  for (const text of texts)
    expect(
      outcomeOf(() => parse(text)),
      text,
    ).toBe(outcomeOf(() => parseByReviver(text)));
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % below;
  };
  let accepted = 0;
  for (let count = 0; count < cases(4000); count += 1) {
    const inside = Array.from({ length: 1 + random(6) }, () => PIECES[random(PIECES.length)]).join('');
    for (const text of [inside, `[${inside}]`, `{"k":${inside}}`, `{${inside}:1.5}`]) {
      const expected = outcomeOf(() => parseByReviver(text));
      if (expected !== 'refused') accepted += 1;
      expect(
        outcomeOf(() => parse(text)),
        text,
      ).toBe(expected);
    }
  }
  expect(accepted).toBeGreaterThan(cases(200));
});

test('a number that is left alone is what JSON.parse makes of it', () => {
  expect(parseWithNumbers('[1.50,2,1e400]', (source) => (source === '2' ? 'two' : undefined))).toEqual([
    1.5,
    'two',
    Number.POSITIVE_INFINITY,
  ]);
});
