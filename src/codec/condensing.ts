/**
 * Dictionary condenses objects of one resource, which are much alike: to what they do not share with it. A pod of 10 kB becomes one
 * of 1.2 kB in 80 µs, and is expanded in 10. Node's zstd makes 0.9 kB of it with the same dictionary in 200 µs and expands it in 25,
 * most of which is the context that each call creates.
 *
 * A condensed object is a series of steps: copy so many new bytes, then so many known ones from the dictionary, or from what was
 * expanded before. The dictionary and the object stand in one piece of memory, so that both are copied alike.
 *
 *   new bytes    their number, then themselves
 *   known bytes  their number, doubled, plus 1 if they come from the object itself; 0 ends it
 *                two bytes: their place in the dictionary, or how far back they are in the object
 *
 * Numbers have seven bits to a byte, the lowest first; the eighth bit says that more follow.
 */
export class Dictionary {
  readonly sizeBytes: number;
  /** The dictionary, then room for an object. */
  #memory: Buffer;
  #index: Index | undefined;

  /** The largest dictionary has {@link MAX_DICTIONARY_BYTES}. */
  constructor(content: Uint8Array) {
    this.sizeBytes = content.length;
    this.#memory = Buffer.allocUnsafeSlow(content.length + LEAST_ROOM_BYTES);
    this.#memory.set(content);
  }

  /** Returns the condensed bytes, which are valid until the next call; undefined when that would not make the object smaller. */
  condense(object: Uint8Array): Buffer | undefined {
    this.#makeRoom(object.length);
    this.#memory.set(object, this.sizeBytes);
    if (condensed.length < object.length) condensed = Buffer.allocUnsafeSlow(object.length * 2);
    this.#index ??= new Index(this.#memory, this.sizeBytes);
    const end = condenseInto(condensed, this.#memory, this.#index, this.sizeBytes + object.length);
    return end === undefined ? undefined : condensed.subarray(0, end);
  }

  /** Expands what begins there. The bytes are valid until the next call. */
  expand(bytes: Uint8Array, from: number, objectBytes: number): Buffer {
    this.#makeRoom(objectBytes);
    expandInto(this.#memory, this.sizeBytes, bytes, from);
    return this.#memory.subarray(this.sizeBytes, this.sizeBytes + objectBytes);
  }

  /** Frees what only {@link condense} needs, six times the dictionary; it is made again in a millisecond. */
  rest(): void {
    this.#index = undefined;
  }

  #makeRoom(objectBytes: number): void {
    if (this.sizeBytes + objectBytes <= this.#memory.length) return;
    const memory = Buffer.allocUnsafeSlow(this.sizeBytes + objectBytes * 2);
    this.#memory.copy(memory, 0, 0, this.sizeBytes);
    this.#memory = memory;
  }
}

/** Places in it have two bytes. */
export const MAX_DICTIONARY_BYTES = 64 * 1024;
const FARTHEST = 64 * 1024 - 1;
const LEAST_ROOM_BYTES = 16 * 1024;

/** Shorter matches take as many bytes as they save. */
const SHORTEST = 6;
/** Places that are tried for a match. */
const MOST_TRIED = 16;
/** A copy by the engine has a price of its own; a few bytes are copied one by one. */
const FEW_BYTES = 32;

/** One for all calls, none of which waits. */
let condensed = Buffer.allocUnsafeSlow(LEAST_ROOM_BYTES);

const HASH_BITS = 15;
const OWN_HASHES = 1 << 12;

/** Where in the dictionary, and lately in the object, bytes of the same hash begin. */
class Index {
  /** By hash, the last place in the dictionary. */
  readonly last = new Int32Array(1 << HASH_BITS).fill(-1);
  /** By place, the place before it with the same hash. */
  readonly before: Int32Array;
  /** By hash, the last place in the object. */
  readonly own = new Int32Array(OWN_HASHES);

  constructor(memory: Buffer, dictionaryBytes: number) {
    this.before = new Int32Array(dictionaryBytes);
    for (let at = 0; at + SHORTEST <= dictionaryBytes; at += 1) {
      const hash = hashAt(memory, at);
      this.before[at] = this.last[hash] ?? -1;
      this.last[hash] = at;
    }
  }
}

/** Multiplicative hashing (Knuth, volume 3, section 6.4) of {@link SHORTEST} bytes. */
function hashAt(bytes: Buffer, at: number): number {
  const four = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16);
  const rest = byteAt(bytes, at + 3) | (byteAt(bytes, at + 4) << 8) | (byteAt(bytes, at + 5) << 16);
  return (Math.imul(four, 0x9e3779b1) ^ Math.imul(rest, 0x85ebca6b)) >>> (32 - HASH_BITS);
}

const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0;

/** Returns the end of the condensed bytes; undefined when they are no fewer than the object's. */
function condenseInto(target: Buffer, memory: Buffer, index: Index, end: number): number | undefined {
  const begin = index.before.length;
  const room = end - begin;
  index.own.fill(-1);
  let written = 0;
  /** The first byte that is not written yet. */
  let open = begin;
  for (let at = begin; at + SHORTEST <= end; ) {
    findMatch(memory, index, at, end);
    if (found.length === 0) {
      at += 1;
      continue;
    }
    const back = countBack(memory, { at, open, begin });
    const from = at - back;
    const length = found.length + back;
    if (written + (from - open) + MOST_STEP_BYTES >= room) return undefined;
    written = writeNew(target, written, memory.subarray(open, from));
    written = writeKnown(
      target,
      written,
      length,
      found.isOwn ? from - (found.place - back) : found.place - back,
    );
    at = from + length;
    open = at;
  }
  if (written + (end - open) + MOST_STEP_BYTES >= room) return undefined;
  written = writeNew(target, written, memory.subarray(open, end));
  target[written] = 0;
  return written + 1;
}

/** Three numbers and a place. */
const MOST_STEP_BYTES = 16;

/** The longest match at a place. It is one object, because it is looked for at nearly every byte. */
const found = { length: 0, place: 0, isOwn: false };

/** Sets {@link found}; its length is 0 when there is none. */
function findMatch(memory: Buffer, { last, before, own }: Index, at: number, end: number): void {
  const begin = before.length;
  const hash = hashAt(memory, at);
  found.length = 0;
  const ownHash = hash & (OWN_HASHES - 1);
  const place = own[ownHash] ?? -1;
  own[ownHash] = at;
  if (place >= 0 && at - place <= FARTHEST) {
    // What is copied must not overlap its copy.
    const length = countSame(memory, place, at, Math.min(end, at + (at - place)));
    if (length >= SHORTEST) setFound(length, place, true);
  }
  let tried = 0;
  for (let one = last[hash] ?? -1; one >= 0 && tried < MOST_TRIED; one = before[one] ?? -1) {
    tried += 1;
    // Only a match that goes on where the longest one ended can be longer.
    if (found.length > 0 && memory[one + found.length] !== memory[at + found.length]) continue;
    const length = countSame(memory, one, at, Math.min(end, at + (begin - one)));
    if (length >= SHORTEST && length > found.length) setFound(length, one, false);
  }
}

function setFound(length: number, place: number, isOwn: boolean): void {
  found.length = length;
  found.place = place;
  found.isOwn = isOwn;
}

function countSame(memory: Buffer, place: number, at: number, end: number): number {
  let to = at;
  for (let from = place; to < end && memory[from] === memory[to]; from += 1) to += 1;
  return to - at;
}

/** Counts the bytes before the match that match too, of those not written yet. */
function countBack(memory: Buffer, { at, open, begin }: { at: number; open: number; begin: number }): number {
  const { place, length, isOwn } = found;
  // An own match must still end before its copy begins.
  const most = isOwn ? Math.min(place - begin, at - place - length) : place;
  const bounded = Math.min(most, at - open);
  let back = 0;
  while (back < bounded && memory[place - back - 1] === memory[at - back - 1]) back += 1;
  return back;
}

function writeNew(target: Buffer, from: number, bytes: Buffer): number {
  const at = writeNumber(target, from, bytes.length);
  target.set(bytes, at);
  return at + bytes.length;
}

function writeKnown(target: Buffer, from: number, length: number, place: number): number {
  const at = writeNumber(target, from, length * 2 + (found.isOwn ? 1 : 0));
  target[at] = place & 0xff;
  target[at + 1] = place >>> 8;
  return at + 2;
}

function writeNumber(target: Buffer, from: number, value: number): number {
  let at = from;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) {
    target[at] = (rest & 0x7f) | 0x80;
    at += 1;
  }
  target[at] = rest;
  return at + 1;
}

/** Where {@link readNumber} has read to. */
let readTo = 0;

function readNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  let byte = byteAt(bytes, at);
  let value = byte & 0x7f;
  for (let shift = 7; byte > 0x7f; shift += 7) {
    at += 1;
    byte = byteAt(bytes, at);
    value |= (byte & 0x7f) << shift;
  }
  readTo = at + 1;
  return value;
}

/** Expands behind the dictionary. */
function expandInto(memory: Buffer, dictionaryBytes: number, bytes: Uint8Array, from: number): void {
  let to = dictionaryBytes;
  let at = from;
  for (;;) {
    const isNewTo = readNumber(bytes, at) + to;
    at = readTo;
    for (; to < isNewTo; to += 1) {
      memory[to] = byteAt(bytes, at);
      at += 1;
    }
    const known = readNumber(bytes, at);
    at = readTo;
    if (known === 0) return;
    const length = known >>> 1;
    const place = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8);
    at += 2;
    let source = (known & 1) === 0 ? place : to - place;
    if (length > FEW_BYTES) {
      memory.copyWithin(to, source, source + length);
      to += length;
      continue;
    }
    for (const end = to + length; to < end; to += 1) {
      memory[to] = byteAt(memory, source);
      source += 1;
    }
  }
}
