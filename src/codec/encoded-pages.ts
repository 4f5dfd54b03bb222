import { Pace, type Steps } from '../util/turns.ts';
import { DerivedCache, type ItemState, pageFrom, type Sized } from './packed-pages.ts';

/** An object in one state, which has the same bytes in one form as long as it lives. */
interface Encodable extends ItemState {
  readonly json: Buffer;
  /** The length of `json`, which need not be made to know it. */
  readonly sizeBytes?: number;
}

/** How items become bytes. */
export interface ItemEncoding<Item> {
  /** Equal for equal bytes. */
  readonly form: string;
  /** Two calls for the same item return equal bytes. */
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

  constructor(form: string, items: readonly Encodable[], parts: readonly Buffer[]) {
    let end = 0;
    this.form = form;
    this.revisions = items.map(({ revision }) => revision);
    this.#ends = parts.map((part) => (end += part.length));
    this.bytes = Buffer.allocUnsafeSlow(end);
    for (const [at, part] of parts.entries()) part.copy(this.bytes, at === 0 ? 0 : this.#ends[at - 1]);
    this.sizeBytes = end + OVERHEAD_BYTES + ITEM_BYTES * parts.length;
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
    const parts: Part<Item>[] = [];
    let sizeBytes = 0;
    let heldBytes = 0;
    for (let from = 0; from < items.length; ) {
      const known = this.#known(items, from, encoding.form);
      const own = known === undefined ? pageFrom<Item>(items, from, PAGING) : [];
      const page = known ?? (yield* this.#make(own, encoding, pace));
      if (known === undefined) heldBytes += page.bytes.length;
      parts.push({ items: own, page: known === undefined && heldBytes > MAX_HELD_BYTES ? undefined : page });
      sizeBytes += page.bytes.length;
      from += page.revisions.length;
      if (pace.isOver()) yield* pace.pass();
    }
    return { sizeBytes, pages: () => this.#send(parts, encoding) };
  }

  /** The bytes of one item. */
  one<Item extends Encodable>(item: Item, { form, encode }: ItemEncoding<Item>): Buffer {
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
          Buffer.concat(items.map((item) => this.one(item, encoding)));
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
    pace: Pace,
  ): Steps<EncodedPage> {
    const parts: Buffer[] = [];
    for (const item of items) {
      if (pace.isOver()) yield* pace.pass();
      parts.push(this.one(item, encoding));
    }
    const page = new EncodedPage(encoding.form, items, parts);
    for (const item of items) this.#pageOf.set(item, page.reference);
    const [first] = items;
    if (first !== undefined) this.#pages.set(first, page);
    return page;
  }
}

/** Objects in stored form are about as long as they are encoded. */
const PAGING = {
  estimateBytes: (item: Encodable): number => item.sizeBytes ?? item.json.length,
  stateOf: (item: Encodable): ItemState => item,
};
