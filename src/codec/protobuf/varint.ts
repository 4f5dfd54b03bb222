/** Unsigned numbers below 2^53, seven bits a byte. Above 2^32 shifts would cut them off. */

export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; length += 1) rest = shift(rest);
  return length;
}

/** Where the next byte goes. */
export function writeVarint(bytes: Buffer, value: number, from: number): number {
  let at = from;
  let rest = value;
  for (; rest > 0x7f; rest = shift(rest)) {
    bytes[at] = (rest & 0x7f) | 0x80;
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}

const shift = (value: number): number => (value > 0xffffffff ? Math.floor(value / 0x80) : value >>> 7);
