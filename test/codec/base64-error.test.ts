import { expect, test } from 'vitest';
import { base64Error } from '../../src/codec/base64-error.ts';
import { decodeScalar } from '../../src/codec/decode-scalar.ts';

test.each<[string, number | undefined]>([
  ['', undefined],
  ['\n', undefined],
  ['AA==', undefined],
  ['AAA=\n', undefined],
  ['AA\nAA', undefined],
  ['?', 0],
  ['!!!!', 0],
  ['====', 0],
  ['x===', 1],
  ['A=AA', 1],
  ['A!\n', 1],
  ['AA=A', 2],
  ['AA=', 3],
  ['AA==A', 4],
  ['AAA=AAAA', 4],
  ['AAAAA', 4],
  ['AAAAAA', 4],
  ['AAAAAA=', 7],
  ['YWJjZA=====', 8],
])('%j is no base64 from byte %s on', (text, at) => {
  expect(base64Error(text)).toBe(at);
  const decode = () => decodeScalar(text, 'bytes');
  if (at === undefined) expect(decode()).toBe(text.replaceAll('\n', ''));
  else expect(decode).toThrow(`illegal base64 data at input byte ${at}`);
});
