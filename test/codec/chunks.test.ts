import { expect, test } from 'vitest';
import { CHUNK_BYTES, writeItems } from '../../src/codec/chunks.ts';

/** Copies, because a piece is valid only until the next. */
async function list(
  items: readonly string[],
  exact: boolean,
): Promise<{ text: string; pieces: number; sizeBytes?: number }> {
  const body = await writeItems<string, string>({
    head: Buffer.from('['),
    tail: Buffer.from(']'),
    separator: ',',
    items,
    exact,
    estimateBytes: (item) => (exact ? Buffer.byteLength(item) : 10),
    make: (item) => item,
    boundBytes: (item) => item.length * 3,
    write: (item, writer) => writer.text(item),
  });
  const pieces = [...body.chunks.map((chunk) => chunk.toString())];
  for (const piece of body.rest ?? []) pieces.push(piece.toString());
  const size = body.sizeBytes === undefined ? {} : { sizeBytes: body.sizeBytes };
  return { text: pieces.join(''), pieces: pieces.length, ...size };
}

test('few items are made at once, many as they are sent, and both read the same', async () => {
  expect(await list([], true)).toEqual({ text: '[]', pieces: 1 });
  expect((await list(['a', 'b'], true)).text).toBe('[a,b]');
  const many = Array.from({ length: 30_000 }, (_, at) => `item number ${at}`);
  const large = await list(many, true);
  expect(large.text).toBe(`[${many.join(',')}]`);
  expect(large.pieces).toBeGreaterThan(1);
  expect(large.sizeBytes).toBe(large.text.length);
});

test('an item larger than a chunk, and one larger than was thought, are whole', async () => {
  const huge = 'é'.repeat(CHUNK_BYTES);
  expect((await list(['a', huge, 'b', huge], true)).text).toBe(`[a,${huge},b,${huge}]`);
  expect((await list(['a', huge, 'b'], false)).text).toBe(`[a,${huge},b]`);
});
