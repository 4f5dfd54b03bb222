import { expect, test } from 'vitest';
import { prettyBody } from '../../src/codec/pretty-json.ts';

const bytesOf = ({ chunks, rest }: ReturnType<typeof prettyBody>): string => {
  const pieces = [...chunks];
  for (const piece of rest ?? []) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
};

const VALUE = {
  empty: {},
  none: [],
  nested: [[], [{}], [1, [2, -3.5e7]]],
  text: 'a "quoted" \\ {[,:]} ümlaut\n\\"',
  'key "x"': null,
  more: { yes: true, no: false },
};

test('compact JSON becomes what JSON.stringify writes with an indent', () => {
  const expected = `${JSON.stringify(VALUE, undefined, 2)}\n`;
  const compact = Buffer.from(`${JSON.stringify(VALUE)}\n`);
  expect(bytesOf(prettyBody({ chunks: [compact] }))).toBe(expected);
  for (let at = 0; at <= compact.length; at += 1) {
    const chunks = [compact.subarray(0, at), compact.subarray(at)];
    expect(bytesOf(prettyBody({ chunks: [], rest: chunks }))).toBe(expected);
  }
});

test('a large body comes in small pieces, however it is nested', () => {
  const deep = '['.repeat(40_000) + ']'.repeat(40_000);
  const long = JSON.stringify({
    text: 'x'.repeat(1_000_000),
    list: Array.from({ length: 100_000 }, (_, at) => at),
  });
  for (const [json, largest] of [
    [deep.slice(30_000, 50_000), 64 * 1024],
    [long, 64 * 1024],
    [deep, 512 * 1024],
  ] as const) {
    let sizeBytes = 0;
    for (const piece of prettyBody({ chunks: [Buffer.from(json)] }).rest ?? []) {
      expect(piece.length).toBeLessThanOrEqual(largest);
      sizeBytes += piece.length;
      if (sizeBytes > 50_000_000) break;
    }
    expect(sizeBytes).toBeGreaterThan(json.length);
  }
});
