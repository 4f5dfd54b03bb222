import { MessagePort } from 'node:worker_threads';

/**
 * Returns a value as a port takes it: bytes in memory of one thread as a copy of exactly these bytes, because a port copies all of the
 * memory that a part belongs to. Bytes in shared memory stay where they are, and both threads see them. Objects are values: their
 * methods do not cross.
 */
export function toPort(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return toBytes(value);
  if (Array.isArray(value)) return value.map(toPort);
  if (Object.getPrototypeOf(value) !== Object.prototype && !isRecord(value)) return value;
  return Object.fromEntries(Object.keys(value).map((key) => [key, toPort(Reflect.get(value, key))]));
}

/** Dates, maps, sets and ports cross as they are; an object of another class is sent as its fields. */
const isRecord = (value: object): boolean =>
  !(value instanceof Date || value instanceof Map || value instanceof Set || value instanceof MessagePort);

function toBytes({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array {
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  return buffer instanceof SharedArrayBuffer || byteLength === buffer.byteLength ? view : view.slice();
}

/** Returns a value from a port with its bytes as buffers. Changes the value, which is this thread's own copy. */
export function fromPort(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const item: unknown = value[at];
      if (typeof item === 'object' && item !== null) value[at] = fromPort(item);
    }
    return value;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const key of Object.keys(value)) {
    const item: unknown = Reflect.get(value, key);
    if (typeof item === 'object' && item !== null) Reflect.set(value, key, fromPort(item));
  }
  return value;
}
