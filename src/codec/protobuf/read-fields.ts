import protobuf from 'protobufjs/minimal.js';

/** Reads the fields of a message in their order. `take` reads a field, or returns false for an unknown one, which is then skipped. */
export function readFields(
  bytes: Uint8Array,
  take: (field: number, reader: protobuf.Reader) => boolean,
): void {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (!take(tag >>> 3, reader)) reader.skipType(tag & 7);
  }
}
