import { MessagePort } from 'node:worker_threads';

/**
 * Returns a value as a port takes it: bytes in memory of one thread as a copy of exactly these bytes, because a port copies all of the
 * memory that a part belongs to. Bytes in shared memory stay where they are, and both threads see them. Objects are values: their
 * methods do not cross. What has no such bytes is returned as it is, because each object that is made anew costs as much as sending it.
 */
export function toPort(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return toBytes(value);
  if (Array.isArray(value)) return mapChanged(value);
  // Dates, maps, sets and ports cross as they are.
  if (value instanceof Date || value instanceof Map || value instanceof Set || value instanceof MessagePort)
    return value;
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const item: unknown = Reflect.get(value, key);
    const sent = toPort(item);
    if (sent === item) continue;
    copy ??= { ...value };
    copy[key] = sent;
  }
  return copy ?? value;
}

function mapChanged(list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const sent = toPort(list[at]);
    if (sent === list[at]) continue;
    copy ??= [...list];
    copy[at] = sent;
  }
  return copy ?? list;
}

function toBytes(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (buffer instanceof SharedArrayBuffer || byteLength === buffer.byteLength) return bytes;
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
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
