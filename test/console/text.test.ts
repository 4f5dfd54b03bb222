import { expect, test } from 'vitest';
import {
  hasUnseen,
  inOneLine,
  piecesOf,
  shortened,
  withoutSharedStart,
} from '../../src/console/model/text.ts';

test('what cannot be seen, or turns text around, is shown as what it is', () => {
  expect(piecesOf('user\u202etxt.exe')).toEqual([
    { kind: 'text', text: 'user' },
    { kind: 'unseen', text: 'U+202E' },
    { kind: 'text', text: 'txt.exe' },
  ]);
  for (const char of [
    '\u0000',
    '\u001b',
    '\u0085',
    '\u00ad',
    '\u200b',
    '\u200d',
    '\u2066',
    '\u2028',
    '\ufeff',
    '\u{e0041}',
    '\ud800',
  ])
    expect(hasUnseen(`a${char}b`), JSON.stringify(char)).toBe(true);
});

test('all that can be seen is left alone, in every script', () => {
  for (const text of ['web-1', 'Größe', 'שלום', 'العربية', '漢字', '😀', '<script>&amp;'])
    expect(piecesOf(text)).toEqual([{ kind: 'text', text }]);
});

test('a text is shortened between characters, never within one', () => {
  expect(shortened('ab😀cd', 3)).toBe('ab…');
  expect(shortened('ab😀cd', 4)).toBe('ab😀…');
  expect(inOneLine({ a: [1] })).toBe('{"a":[1]}');
});

test('what two values begin with alike is left out, where it is long', () => {
  const image = 'registry.example.com/shop/web:1.4.2';
  expect(withoutSharedStart(image, 'registry.example.com/shop/web:1.4.3')).toEqual([
    '…web:1.4.2',
    '…web:1.4.3',
  ]);
  expect(withoutSharedStart(image, 'registry.example.com/cart:1')).toEqual(['…shop/web:1.4.2', '…cart:1']);
  expect(withoutSharedStart(image, 'registry.example.com/shop/')).toEqual(['…web:1.4.2', '…']);
  for (const [before, after] of [
    ['web:1', 'web:2'],
    ['', image],
    ['a', 'b c d e f g h i j k'],
    ['a/b', 'a/c'],
  ] as const)
    expect(withoutSharedStart(before, after)).toEqual([before, after]);
});
