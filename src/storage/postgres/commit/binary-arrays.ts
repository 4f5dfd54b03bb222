/** Writes values of one type in PostgreSQL's binary form. */
export interface ElementType<Value> {
  readonly oid: number;
  /** Returns the most bytes that `write` writes. */
  maxSizeOf(value: Value): number;
  /** Returns how many bytes it wrote. */
  write(bytes: Buffer, value: Value, at: number): number;
}

export const TEXT: ElementType<string> = {
  oid: 25,
  // UTF-8 takes at most three bytes for a unit of UTF-16; counting them would take as long as writing them.
  maxSizeOf: (value) => value.length * 3,
  write: (bytes, value, at) => bytes.write(value, at),
};

/** Bytes, neither parsed nor escaped: what a client sent comes back byte for byte. */
export const JSON_TEXT: ElementType<Buffer> = {
  oid: 114,
  maxSizeOf: (value) => value.length,
  write: (bytes, value, at) => value.copy(bytes, at),
};

export const BYTEA: ElementType<Buffer> = { ...JSON_TEXT, oid: 17 };

export const INT8: ElementType<bigint> = {
  oid: 20,
  maxSizeOf: () => 8,
  write: (bytes, value, at) => bytes.writeBigInt64BE(value, at) - at,
};

export const UUID: ElementType<string> = {
  oid: 2950,
  maxSizeOf: () => 16,
  write: (bytes, value, at) => bytes.write(value.replaceAll('-', ''), at, 'hex'),
};

/** Microseconds since 2000-01-01. */
export const TIMESTAMPTZ: ElementType<Date> = {
  oid: 1184,
  maxSizeOf: () => 8,
  write: (bytes, value, at) =>
    bytes.writeBigInt64BE(BigInt(value.getTime() - Date.UTC(2000, 0, 1)) * 1000n, at) - at,
};

const HEADER_BYTES = 20;
const SIZE_BYTES = 4;
const NULL_SIZE = -1;

/** Returns the most bytes that {@link writeArray} writes. */
export function maxArrayBytes<Value>(
  type: ElementType<Value>,
  values: readonly (Value | undefined)[],
): number {
  let maxBytes = HEADER_BYTES;
  for (const value of values) maxBytes += SIZE_BYTES + (value === undefined ? 0 : type.maxSizeOf(value));
  return maxBytes;
}

/**
 * Writes a one-dimensional array; undefined becomes null. Five int32: dimensions, has nulls, element type, length, lower bound.
 * Then an int32 size before each element. Returns where it ends.
 */
export function writeArray<Value>(
  bytes: Buffer,
  type: ElementType<Value>,
  values: readonly (Value | undefined)[],
  from: number,
): number {
  let at = from;
  const hasNulls = values.includes(undefined) ? 1 : 0;
  for (const field of [1, hasNulls, type.oid, values.length, 1]) at = bytes.writeInt32BE(field, at);
  for (const value of values) {
    const size = value === undefined ? NULL_SIZE : type.write(bytes, value, at + SIZE_BYTES);
    at = bytes.writeInt32BE(size, at) + Math.max(size, 0);
  }
  return at;
}
