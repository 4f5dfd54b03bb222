import { type Body, ChunkWriter, type ItemList, writeItems } from './chunks.ts';
import { Deflater, gzipParts, type PackedPart, wrapPlain } from './gzip.ts';

/**
 * Packed lists that clients request repeatedly. The items are cut into pages, and each packed page is cached: of 10,000 pods,
 * 77 MB that take 250 ms to pack, the next list packs only the pages in which an item changed.
 *
 * The end of a page follows from its items alone, not from their places in the list: creating or deleting an item changes only
 * its own page, and a list in chunks shares pages with the whole list.
 */

/** Half the size packs a sixth worse; twice the size packs twice as many bytes again after each change. */
const PAGE_BYTES = 128 * 1024;
const MIN_PAGE_BYTES = PAGE_BYTES / 4;
const MAX_PAGE_BYTES = PAGE_BYTES * 4;
const MAX_PAGE_ITEMS = 1000;
/** Memory of a page beside its bytes, and of each of its items. */
const OVERHEAD_BYTES = 300;
const ITEM_BYTES = 8;

export interface PackedPage extends Sized {
  readonly form: string;
  /** Whether it begins the list, without a separator. */
  readonly isFirst: boolean;
  /** Revisions of its items, in order. */
  readonly revisions: readonly bigint[];
  readonly part: PackedPart;
}

/** The current state of an item. The object lives as long as the state, and each state has a revision of its own. */
export interface ItemState {
  readonly revision: bigint;
}

interface Packing<Item> {
  readonly pages: DerivedCache<PackedPage>;
  /** An item in one state always has the same bytes in one form. */
  readonly form: string;
  stateOf(item: Item): ItemState;
}

/** The whole list packed by gzip. */
export const packItems = <Item, Made>(
  list: ItemList<Item, Made>,
  packing: Packing<Item>,
): AsyncIterable<Buffer> => gzipParts(new PackedList(list, packing).parts());

/** {@link writeItems}, with a packed body for clients that accept one. */
export const writePackable = async <Item, Made>(
  list: ItemList<Item, Made>,
  packing: Packing<Item>,
): Promise<Body> => ({ ...(await writeItems(list)), packed: () => packItems(list, packing) });

class PackedList<Item, Made> {
  readonly #list: ItemList<Item, Made>;
  readonly #packing: Packing<Item>;
  readonly #deflater = new Deflater();
  /** Reused for each page. */
  #writer: ChunkWriter | undefined;

  constructor(list: ItemList<Item, Made>, packing: Packing<Item>) {
    this.#list = list;
    this.#packing = packing;
  }

  async *parts(): AsyncIterable<PackedPart> {
    const { head, items, tail } = this.#list;
    try {
      yield wrapPlain(head);
      for (let from = 0; from < items.length; ) {
        const page = this.#known(from) ?? (await this.#pack(from));
        yield page.part;
        from += page.revisions.length;
      }
      yield wrapPlain(tail);
    } finally {
      this.#deflater.close();
    }
  }

  /** The cached page that begins here, when all its items follow in the states in which they were packed. */
  #known(from: number): PackedPage | undefined {
    const { form, pages, stateOf } = this.#packing;
    const { items } = this.#list;
    const first = items[from];
    const page = first === undefined ? undefined : pages.get(stateOf(first));
    if (page === undefined || page.form !== form || page.isFirst !== (from === 0)) return undefined;
    for (let at = 0; at < page.revisions.length; at += 1) {
      const item = items[from + at];
      if (item === undefined || stateOf(item).revision !== page.revisions[at]) return undefined;
    }
    return page;
  }

  async #pack(from: number): Promise<PackedPage> {
    const { form, pages, stateOf } = this.#packing;
    const items = this.#itemsFrom(from);
    const isFirst = from === 0;
    const part = await this.#deflater.pack(this.#write(items, isFirst));
    const states = items.map(stateOf);
    const sizeBytes = part.deflated.length + OVERHEAD_BYTES + ITEM_BYTES * items.length;
    const page = { form, isFirst, revisions: states.map(({ revision }) => revision), part, sizeBytes };
    const [first] = states;
    if (first !== undefined) pages.set(first, page);
    return page;
  }

  /** The items of the page that begins here. */
  #itemsFrom(from: number): readonly Item[] {
    const { items, estimateBytes } = this.#list;
    return pageFrom(items, from, { estimateBytes, stateOf: this.#packing.stateOf });
  }

  #write(items: readonly Item[], isFirst: boolean): Buffer {
    const { separator, make, boundBytes, write } = this.#list;
    const made = items.map(make);
    let sizeBytes = separator.length * items.length;
    for (const one of made) sizeBytes += boundBytes(one);
    this.#writer ??= new ChunkWriter(PAGE_BYTES, { reuses: true });
    this.#writer.begin(sizeBytes);
    for (const [at, one] of made.entries()) {
      if (separator !== '' && !(isFirst && at === 0)) this.#writer.ascii(separator);
      write(one, this.#writer);
    }
    return this.#writer.filled();
  }
}

/** What the end of a page follows from: the same for an item in one state. */
interface Paging<Item> {
  estimateBytes(item: Item): number;
  stateOf(item: Item): ItemState;
}

/** The items of the page that begins here. */
export function pageFrom<Item>(
  items: readonly Item[],
  from: number,
  { estimateBytes, stateOf }: Paging<Item>,
): readonly Item[] {
  let sizeBytes = 0;
  let end = from;
  for (const item of items.slice(from, from + MAX_PAGE_ITEMS)) {
    const itemBytes = estimateBytes(item);
    sizeBytes += itemBytes;
    end += 1;
    if (sizeBytes >= MAX_PAGE_BYTES) break;
    if (sizeBytes >= MIN_PAGE_BYTES && endsPage(stateOf(item), itemBytes)) break;
  }
  return items.slice(from, end);
}

/**
 * True for a share of the states that makes pages about {@link PAGE_BYTES} long. Multiplying by 2^32 divided by the golden ratio
 * spreads consecutive revisions evenly (Knuth, volume 3, section 6.4).
 */
function endsPage({ revision }: ItemState, sizeBytes: number): boolean {
  const spread = Math.imul(Number(BigInt.asIntN(32, revision)), 0x9e3779b1) >>> 0;
  return spread / 2 ** 32 < sizeBytes / PAGE_BYTES;
}

/** A value made from an object. */
export interface Sized {
  readonly sizeBytes: number;
}

/** The least time that a generation lasts once it is full. */
const MIN_GENERATION_MS = 10_000;

/**
 * A cache of values that were made from objects and cost more to make than to keep. A value goes with its object, or when it is
 * not used while a whole generation fills up. A generation that is full takes no more values until it has lasted
 * {@link MIN_GENERATION_MS}: otherwise a list larger than the cache, read repeatedly, would find none of its values.
 */
export class DerivedCache<T extends Sized> {
  readonly #generationBytes: number;
  readonly #now: () => number;
  #young = new WeakMap<object, T>();
  #old = new WeakMap<object, T>();
  #youngBytes = 0;
  #begunAt: number;

  constructor(maxBytes: number, now: () => number = Date.now) {
    this.#generationBytes = maxBytes / 2;
    this.#now = now;
    this.#begunAt = now();
  }

  get(object: object): T | undefined {
    const young = this.#young.get(object);
    if (young !== undefined) return young;
    const old = this.#old.get(object);
    if (old !== undefined) this.set(object, old);
    return old;
  }

  set(object: object, value: T): void {
    if (this.#youngBytes + value.sizeBytes > this.#generationBytes && !this.#turn()) return;
    this.#youngBytes += value.sizeBytes;
    this.#young.set(object, value);
  }

  #turn(): boolean {
    const now = this.#now();
    if (now - this.#begunAt < MIN_GENERATION_MS) return false;
    this.#begunAt = now;
    this.#old = this.#young;
    this.#young = new WeakMap();
    this.#youngBytes = 0;
    return true;
  }
}
