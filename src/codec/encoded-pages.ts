import { Pace, type Steps } from '../util/turns.ts';
import { DerivedCache, type ItemState, pageFrom, type Sized } from './packed-pages.ts';

/** An object in one state, which has the same bytes in one form as long as it lives. */
interface Encodable extends ItemState {
  readonly json: Buffer;
}

/** How items become bytes. */
export interface ItemEncoding<Item> {
  /** Equal for equal bytes. */
  readonly form: string;
  /** Two calls for the same item return equal bytes, which may be used until the next call. */
  encode(item: Item): Buffer;
}

/** The items of one page as they are sent, one behind the other. */
class EncodedPage implements Sized {
  readonly form: string;
  readonly revisions: readonly bigint[];
  readonly bytes: Buffer;
  readonly sizeBytes: number;
  readonly reference: WeakRef<EncodedPage> = new WeakRef<EncodedPage>(this);
  /** Where each item ends. */
  readonly #ends: readonly number[];

  constructor(form: string, items: readonly Encodable[], bytes: Buffer, ends: readonly number[]) {
    this.form = form;
    this.revisions = items.map(({ revision }) => revision);
    this.#ends = ends;
    this.bytes = bytes;
    this.sizeBytes = bytes.length + OVERHEAD_BYTES + ITEM_BYTES * ends.length;
  }

  /** Whether its items follow from here, in the states in which they were encoded. */
  isAt(items: readonly Encodable[], from: number): boolean {
    const { revisions } = this;
    for (let at = 0; at < revisions.length; at += 1)
      if (items[from + at]?.revision !== revisions[at]) return false;
    return true;
  }

  find({ revision }: Encodable): Buffer | undefined {
    const at = this.revisions.indexOf(revision);
    return at < 0 ? undefined : this.bytes.subarray(at === 0 ? 0 : this.#ends[at - 1], this.#ends[at]);
  }
}

/** Memory of a page beside its bytes, and of each of its items. */
const OVERHEAD_BYTES = 500;
const ITEM_BYTES = 40;

/** Bytes of a page while it is made: one buffer for all pages of a list. */
class Draft {
  #bytes = Buffer.alloc(0);
  #used = 0;

  clear(): void {
    this.#used = 0;
  }

  /** Returns where the bytes end. */
  add(bytes: Buffer): number {
    const end = this.#used + bytes.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(end * 2);
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.#used);
    this.#used = end;
    return end;
  }

  copy(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#used);
    this.#bytes.copy(bytes, 0, 0, this.#used);
    return bytes;
  }
}

/** Most bytes that one list holds until they are sent, besides cached pages. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/** A part of a list that is ready to be sent, or made again when it is sent. */
interface Part<Item> {
  readonly items: readonly Item[];
  readonly page: EncodedPage | undefined;
}

export interface EncodedItems {
  readonly sizeBytes: number;
  /** The bytes, page by page. */
  pages(): Iterable<Buffer>;
}

/**
 * EncodedPages keeps encoded lists as they are sent, cut into pages where {@link pageFrom} cuts them. A list compares the revisions
 * of its items with those of its pages, and sends the pages without a copy: 10,000 pods take half the work of sending each from
 * a buffer of its own. A page in which an item changed is put together from the old page and the new item.
 */
export class EncodedPages {
  readonly #pages: DerivedCache<EncodedPage>;
  /** The page of each item. Weak, so that the cache alone keeps pages. */
  readonly #pageOf = new WeakMap<object, WeakRef<EncodedPage>>();

  constructor(maxBytes: number) {
    this.#pages = new DerivedCache(maxBytes);
  }

  /** Encodes what is not cached: the length of a list precedes its items. */
  *list<Item extends Encodable>(items: readonly Item[], encoding: ItemEncoding<Item>): Steps<EncodedItems> {
    const pace = new Pace({ stepsBetween: 16 });
    const draft = new Draft();
    const parts: Part<Item>[] = [];
    let sizeBytes = 0;
    let heldBytes = 0;
    for (let from = 0; from < items.length; ) {
      const known = this.#known(items, from, encoding.form);
      const own = known === undefined ? pageFrom<Item>(items, from, PAGING) : [];
      const page = known ?? (yield* this.#make(own, encoding, { pace, draft }));
      if (known === undefined) heldBytes += page.bytes.length;
      parts.push({ items: own, page: known === undefined && heldBytes > MAX_HELD_BYTES ? undefined : page });
      sizeBytes += page.bytes.length;
      from += page.revisions.length;
      if (pace.isOver()) yield* pace.pass();
    }
    return { sizeBytes, pages: () => this.#send(parts, encoding) };
  }

  /** The bytes of one item. */
  copyOf<Item extends Encodable>(item: Item, encoding: ItemEncoding<Item>): Buffer {
    return Buffer.from(this.#one(item, encoding));
  }

  /** May be used until the next item is encoded. */
  #one<Item extends Encodable>(item: Item, { form, encode }: ItemEncoding<Item>): Buffer {
    const page = this.#pageOf.get(item)?.deref();
    return (page?.form === form ? page.find(item) : undefined) ?? encode(item);
  }

  *#send<Item extends Encodable>(
    parts: readonly Part<Item>[],
    encoding: ItemEncoding<Item>,
  ): Iterable<Buffer> {
    for (const { items, page } of parts) {
      if (page !== undefined) yield page.bytes;
      else
        yield this.#known(items, 0, encoding.form)?.bytes ??
          Buffer.concat(items.map((item) => this.copyOf(item, encoding)));
    }
  }

  /** The cached page that begins here. */
  #known(items: readonly Encodable[], from: number, form: string): EncodedPage | undefined {
    const first = items[from];
    const page = first === undefined ? undefined : this.#pages.get(first);
    return page?.form === form && page.isAt(items, from) ? page : undefined;
  }

  *#make<Item extends Encodable>(
    items: readonly Item[],
    encoding: ItemEncoding<Item>,
    { pace, draft }: { pace: Pace; draft: Draft },
  ): Steps<EncodedPage> {
    const ends: number[] = [];
    draft.clear();
    for (const item of items) {
      if (pace.isOver()) yield* pace.pass();
      ends.push(draft.add(this.#one(item, encoding)));
    }
    const page = new EncodedPage(encoding.form, items, draft.copy(), ends);
    for (const item of items) this.#pageOf.set(item, page.reference);
    const [first] = items;
    if (first !== undefined) this.#pages.set(first, page);
    return page;
  }
}

/** Objects in stored form are about as long as they are encoded. */
const PAGING = {
  estimateBytes: ({ json }: Encodable): number => json.length,
  stateOf: (item: Encodable): ItemState => item,
};
