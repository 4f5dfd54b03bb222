import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { appendCrc, crcShift } from '../../src/codec/gzip.ts';

test('the checksum of a whole follows from those of its parts', () => {
  for (const sizeBytes of [0, 1, 2, 3, 255, 4096, 65_537, 1_000_003]) {
    for (const before of [0, 1, 77, 70_000]) {
      const [first, second] = [randomBytes(before), randomBytes(sizeBytes)];
      const whole = appendCrc(crc32(first), crc32(second), crcShift(sizeBytes));
      expect(whole, `${before} and ${sizeBytes}`).toBe(crc32(Buffer.concat([first, second])));
    }
  }
});
