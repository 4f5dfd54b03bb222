/** Numbers of RFC 8949. */

export const MAJOR = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  simple: 7,
} as const;

export const TAG = {
  timeText: 0,
  epochTime: 1,
  unsignedBignum: 2,
  negativeBignum: 3,
  base64url: 21,
  base64: 22,
  base16: 23,
} as const;

export const SIMPLE = { false: 20, true: 21, null: 22 } as const;

/** Tag 55799: what follows is CBOR. Every answer begins with it. */
export const SELF_DESCRIBED = Buffer.from('d9d9f7', 'hex');

/** A floating point number of 16 bits. */
export function readHalf(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits >> 15 === 0 ? 1 : -1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** The 16 bits of a number; undefined: it needs more. */
export function toHalf(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  const exponent = Math.floor(Math.log2(size));
  const isNormal = exponent >= -14;
  const fraction = isNormal ? size / 2 ** (exponent - 10) - 1024 : size * 2 ** 24;
  const bits = sign | (isNormal ? (exponent + 15) << 10 : 0) | fraction;
  return exponent <= 15 && Number.isInteger(fraction) && readHalf(bits) === value ? bits : undefined;
}
