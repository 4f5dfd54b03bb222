import { expect, test } from 'vitest';
import { EncodedPages } from '../../src/codec/encoded-pages.ts';
import { atOnce } from '../../src/util/turns.ts';

interface Item {
  readonly revision: bigint;
  readonly json: Buffer;
}

let revision = 0n;
function make(name: number): Item {
  revision += 1n;
  return { revision, json: Buffer.from(`${name} at ${revision} `.repeat(1 + (name % 97) * 4)) };
}

let encoded = 0;
const encodingOf = (form: string) => ({
  form,
  encode: ({ json }: Item): Buffer => {
    encoded += 1;
    return Buffer.concat([Buffer.from(form), json]);
  },
});

const plain = (items: readonly Item[], form: string): Buffer =>
  Buffer.concat(items.flatMap(({ json }) => [Buffer.from(form), json]));

/** The bytes of a list, and how many items had to be encoded for it. */
function listed(
  pages: EncodedPages,
  items: readonly Item[],
  form = 'a',
): { bytes: Buffer; sizeBytes: number; encodes: number } {
  encoded = 0;
  const list = atOnce(pages.list(items, encodingOf(form)));
  const bytes = Buffer.concat([...list.pages()]);
  return { bytes, sizeBytes: list.sizeBytes, encodes: encoded };
}

const COUNT = 3000;
const all = (): Item[] => Array.from({ length: COUNT }, (_, name) => make(name));

test('lists have the bytes of their items across updates, creations, deletions, parts and forms', {
  tags: 'long',
}, () => {
  const pages = new EncodedPages(64 * 1024 * 1024);
  let items = all();
  for (let round = 0; round < 60; round += 1) {
    const at = (round * 577) % items.length;
    items = [...items];
    items.splice(at, round % 3 === 1 ? 0 : 1, ...(round % 3 === 2 ? [] : [make(at)]));
    const part = items.slice(at, at + 500);
    const selected = items.filter((_, index) => index % 7 === round % 7);
    for (const some of [items, part, selected, items.slice(0, 1), []]) {
      const { bytes, sizeBytes } = listed(pages, some);
      expect(bytes.equals(plain(some, 'a'))).toBe(true);
      expect(sizeBytes).toBe(bytes.length);
    }
    if (round % 20 === 0)
      expect(listed(pages, items, 'other').bytes.equals(plain(items, 'other'))).toBe(true);
  }
});

test('a list encodes what has changed since the last, and the page of a change is put together', () => {
  const pages = new EncodedPages(64 * 1024 * 1024);
  const items = all();
  expect(listed(pages, items).encodes).toBe(COUNT);
  expect(listed(pages, items).encodes).toBe(0);
  for (const at of [0, 1, 1500, COUNT - 1]) {
    items[at] = make(at);
    const { bytes, encodes } = listed(pages, items);
    expect(encodes).toBe(1);
    expect(bytes.equals(plain(items, 'a'))).toBe(true);
  }
  items.splice(700, 1);
  expect(listed(pages, items).encodes).toBe(0);
});

test('a list keeps its state while later ones change the pages', () => {
  const pages = new EncodedPages(64 * 1024 * 1024);
  const items = all();
  const first = atOnce(pages.list([...items], encodingOf('a')));
  const before = plain(items, 'a');
  for (let at = 0; at < items.length; at += 50) items[at] = make(at);
  expect(listed(pages, items).bytes.equals(plain(items, 'a'))).toBe(true);
  expect(Buffer.concat([...first.pages()]).equals(before)).toBe(true);
});

test('a list that is too large for the cache and to be held has its bytes all the same', () => {
  const pages = new EncodedPages(1024);
  const items = all().map((item) => ({ ...item, json: Buffer.alloc(8000, item.json) }));
  const { bytes, sizeBytes } = listed(pages, items);
  expect(sizeBytes).toBe(bytes.length);
  expect(bytes.equals(plain(items, 'a'))).toBe(true);
});
