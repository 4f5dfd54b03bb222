import { expect, test } from 'vitest';
import { Uploads, WINDOW_BYTES } from '../../src/http/uploads.ts';

const MANY = 10_000;

function admitted(uploads: Uploads, connection: object, announced?: string): number {
  for (let count = 0; count < MANY; count += 1)
    if (uploads.begin(connection, announced) === undefined) return count;
  return MANY;
}

test('what waits on one connection is bounded by what it may send, said or not', () => {
  expect(admitted(new Uploads(), {}) * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '3000000') * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '1024') * 1024).toBe(10_000 * 1024);
  expect(admitted(new Uploads(), {}, 'lots') * WINDOW_BYTES).toBe(32 * 1024 * 1024);
  expect(admitted(new Uploads(), {}, '0')).toBe(MANY);
});

test('an upload that is read makes room, once', () => {
  const uploads = new Uploads();
  const connection = {};
  const first = uploads.begin(connection, undefined);
  admitted(uploads, connection);
  expect(uploads.begin(connection, undefined)).toBeUndefined();
  first?.end();
  first?.end();
  expect(uploads.begin(connection, undefined)).toBeDefined();
  expect(uploads.begin(connection, undefined)).toBeUndefined();
});

test('connections have a bound together', () => {
  const uploads = new Uploads();
  const all = Array.from({ length: 20 }, () => admitted(uploads, {}));
  expect(all.reduce((sum, count) => sum + count, 0) * WINDOW_BYTES).toBe(256 * 1024 * 1024);
});
