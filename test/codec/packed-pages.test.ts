import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Body, ItemList } from '../../src/codec/chunks.ts';
import { gzipPieces } from '../../src/codec/gzip.ts';
import { DerivedCache, type PackedPage, writePackable } from '../../src/codec/packed-pages.ts';

interface Item {
  readonly name: number;
  readonly revision: bigint;
  readonly text: string;
}

/** The same numbers for the same seed. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A collection that changes, and how often its items had to be written to be packed. */
class Collection {
  readonly #pages = new DerivedCache<PackedPage>(64 * 1024 * 1024);
  items: readonly Item[] = [];
  written = 0;
  #revision = 0n;
  readonly #random: (below: number) => number;

  constructor(count: number, random: (below: number) => number) {
    this.#random = random;
    this.items = Array.from({ length: count }, (_, name) => this.#make(name));
  }

  /** Changes, deletes or creates one. */
  change(): void {
    const at = this.#random(this.items.length);
    const { name } = this.items[at] ?? { name: 0 };
    const items = [...this.items];
    const kinds = [[this.#make(name)], [], [this.#make(name), this.#make(name + 0.5)]];
    items.splice(at, 1, ...(kinds[this.#random(3)] ?? []));
    this.items = items;
  }

  /** The packed list, unpacked, and the list as it is without. */
  async read(items: readonly Item[], form = 'plain'): Promise<{ packed: Buffer; plain: Buffer }> {
    const { chunks, rest = [], packed = () => [] } = await this.body(items, form);
    const plain = Buffer.concat([await gather(chunks), await gather(rest)]);
    this.written = 0;
    return { packed: gunzipSync(await gather(packed())), plain };
  }

  body(items: readonly Item[], form: string): Promise<Body> {
    return writePackable(this.#list(items, form), { pages: this.#pages, form, stateOf: (item) => item });
  }

  #make(name: number): Item {
    this.#revision += 1n + BigInt(this.#random(3));
    const words = Array.from({ length: 1 + this.#random(300) }, () => this.#random(1000)).join(' größe ');
    return { name, revision: this.#revision, text: `${name} ${this.#revision} ${words}` };
  }

  #list(items: readonly Item[], form: string): ItemList<Item, Buffer> {
    return {
      head: Buffer.from(`${form}[`),
      tail: Buffer.from(']'),
      separator: ',',
      items,
      exact: true,
      estimateBytes: ({ text }) => Buffer.byteLength(text),
      make: ({ text }) => Buffer.from(form === 'plain' ? text : text.toUpperCase()),
      boundBytes: ({ length }) => length,
      write: (bytes, writer) => {
        this.written += 1;
        writer.bytes(bytes);
      },
    };
  }
}

async function gather(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Buffer> {
  const gathered: Buffer[] = [];
  for await (const piece of pieces) gathered.push(Buffer.from(piece));
  return Buffer.concat(gathered);
}

test('a packed list equals the list, after every kind of change and for every part of it', {
  tags: 'long',
}, async () => {
  for (const seed of [1, 2, 3]) {
    const random = randomNumbers(seed);
    const collection = new Collection(1500, random);
    for (let turn = 0; turn < 25; turn += 1) {
      for (let changes = random(5); changes > 0; changes -= 1) collection.change();
      const from = random(3) === 0 ? random(collection.items.length) : 0;
      const to = random(3) === 0 ? from + random(700) : collection.items.length;
      const form = random(4) === 0 ? 'capitals' : 'plain';
      const chosen = collection.items.slice(from, to);
      const items = random(5) === 0 ? chosen.filter((_, at) => at % 7 !== 3) : chosen;
      const { packed, plain } = await collection.read(items, form);
      expect(packed.equals(plain), `seed ${seed}, turn ${turn}`).toBe(true);
    }
  }
});

test('a repeated list packs nothing, and after a change only the changed pages', async () => {
  const collection = new Collection(2000, randomNumbers(4));
  await collection.read(collection.items);
  expect(collection.written).toBe(2000);
  await collection.read(collection.items);
  expect(collection.written).toBe(0);
  for (let changes = 0; changes < 10; changes += 1) {
    collection.change();
    await collection.read(collection.items);
    expect(collection.written).toBeLessThan(700);
  }
});

test('items of a history that began anew are not taken for those that had their revisions', async () => {
  const collection = new Collection(500, randomNumbers(5));
  await collection.read(collection.items);
  const restored = collection.items.map((item) => ({ ...item, text: `restored ${item.text}` }));
  const { packed, plain } = await collection.read(restored);
  expect(packed.equals(plain)).toBe(true);
  expect(packed.includes('restored')).toBe(true);
});

test('a reader that stops in the middle leaves whole pages', async () => {
  const collection = new Collection(1500, randomNumbers(6));
  const { packed: start = () => [] } = await collection.body(collection.items, 'plain');
  for await (const _ of start()) break;
  const { packed, plain } = await collection.read(collection.items);
  expect(packed.equals(plain)).toBe(true);
});

test('pieces of any size become one gzip file', async () => {
  const pieces = [0, 1, 70_000, 3, 900_000].map((size, at) => Buffer.alloc(size, `piece ${at}`));
  expect(gunzipSync(await gather(gzipPieces(pieces))).equals(Buffer.concat(pieces))).toBe(true);
  expect(gunzipSync(await gather(gzipPieces([]))).length).toBe(0);
});
