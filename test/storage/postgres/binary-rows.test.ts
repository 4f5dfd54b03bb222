import { expect, test } from 'vitest';
import { BinaryRows } from '../../../src/storage/postgres/read/binary-rows.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);

function row(...columns: readonly (string | bigint | null)[]): Buffer {
  const parts = columns.map((column) => {
    if (column === null) return Buffer.from([0xff, 0xff, 0xff, 0xff]);
    const bytes = typeof column === 'string' ? Buffer.from(column) : Buffer.alloc(8);
    if (typeof column === 'bigint') bytes.writeBigInt64BE(column);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat([Buffer.from([0, columns.length]), ...parts]);
}

const FIRST = row('', 'pods', 'default', 'a', 'uid-1', 7n, '{"x":"ü"}', null, null);
const OTHERS = [
  row('', 'pods', 'default', 'b', 'uid-2', 9n, '{}', null, null),
  row('apps', 'deployments', 'größe', 'c', 'uid-3', 2n ** 40n, '{"y":1}', null, null),
  TRAILER,
];

function readIn(messages: readonly Buffer[]): StoredObject[] {
  const read: StoredObject[] = [];
  const rows = new BinaryRows(
    (objects) => read.push(...objects),
    (_, bytes, from, to) => Buffer.from(bytes.subarray(from, to)),
  );
  for (const message of messages) {
    const surrounded = Buffer.concat([Buffer.from('before'), message, Buffer.from('after')]);
    rows.read(surrounded, 6, 6 + message.length);
    // What was not kept is used again.
    surrounded.fill(0);
  }
  rows.flush();
  return read;
}

test('rows are read at every cut of the stream, with the header before the first or apart from it', () => {
  const read = readIn([Buffer.concat([HEADER, FIRST]), ...OTHERS]);
  expect(read.map(({ key, uid, revision, json }) => [key, uid, revision, json.toString()])).toEqual([
    [{ group: '', resource: 'pods', namespace: 'default', name: 'a' }, 'uid-1', 7n, '{"x":"ü"}'],
    [{ group: '', resource: 'pods', namespace: 'default', name: 'b' }, 'uid-2', 9n, '{}'],
    [
      { group: 'apps', resource: 'deployments', namespace: 'größe', name: 'c' },
      'uid-3',
      2n ** 40n,
      '{"y":1}',
    ],
  ]);
  expect(readIn([HEADER, FIRST, ...OTHERS])).toEqual(read);
});

test('bytes in another form come with what they are, and a row without any is refused', () => {
  const [read] = readIn([HEADER, row('', 'pods', 'default', 'a', 'uid-1', 7n, null, 'bytes', 'text/x')]);
  expect(read?.json).toHaveLength(0);
  expect(read?.encoded).toEqual({ bytes: Buffer.from('bytes'), mediaType: 'text/x' });
  expect(() => readIn([HEADER, row('', 'pods', 'default', 'a', 'uid-1', 7n, null, null, null)])).toThrow(
    /lacks/,
  );
});

test('a row of another shape is refused', () => {
  expect(() => readIn([HEADER, row('a', 'b')])).toThrow(/2 columns/);
});
