import { expect, test } from 'vitest';
import { BinaryRows } from '../../../src/storage/postgres/binary-rows.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);

function row(...columns: readonly (string | bigint)[]): Buffer {
  const parts = columns.map((column) => {
    const bytes = typeof column === 'string' ? Buffer.from(column) : Buffer.alloc(8);
    if (typeof column === 'bigint') bytes.writeBigInt64BE(column);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat([Buffer.from([0, columns.length]), ...parts]);
}

const stream = Buffer.concat([
  HEADER,
  row('', 'pods', 'default', 'a', 'uid-1', 7n, '{"x":"ü"}'),
  row('', 'pods', 'default', 'b', 'uid-2', 9n, '{}'),
  row('apps', 'deployments', 'größe', 'c', 'uid-3', 2n ** 40n, '{"y":1}'),
  TRAILER,
]);

function readIn(pieces: readonly Buffer[]): StoredObject[] {
  const read: StoredObject[] = [];
  const rows = new BinaryRows((objects) => read.push(...objects));
  for (const piece of pieces) {
    const own = Buffer.from(piece);
    rows.read(own);
    // The driver uses its memory again.
    own.fill(0);
  }
  rows.flush();
  return read;
}

test('rows are read whole, wherever the stream is cut', () => {
  const whole = readIn([stream]);
  expect(whole.map(({ key, uid, revision, json }) => [key, uid, revision, json.toString()])).toEqual([
    [{ group: '', resource: 'pods', namespace: 'default', name: 'a' }, 'uid-1', 7n, '{"x":"ü"}'],
    [{ group: '', resource: 'pods', namespace: 'default', name: 'b' }, 'uid-2', 9n, '{}'],
    [
      { group: 'apps', resource: 'deployments', namespace: 'größe', name: 'c' },
      'uid-3',
      2n ** 40n,
      '{"y":1}',
    ],
  ]);
  for (let cut = 1; cut < stream.length; cut += 1) {
    expect(readIn([stream.subarray(0, cut), stream.subarray(cut)]), `cut at ${cut}`).toEqual(whole);
  }
  expect(readIn(Array.from(stream, (_, at) => stream.subarray(at, at + 1)))).toEqual(whole);
});

test('a row of another shape is refused', () => {
  expect(() => readIn([HEADER, row('a', 'b')])).toThrow(/2 columns/);
});
