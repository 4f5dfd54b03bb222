import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { BackwardWriter } from '../../src/codec/protobuf/backward-writer.ts';

const { Reader } = protobuf;

test('numbers are written as protobuf has them', () => {
  const numbers = [0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1];
  const out = new BackwardWriter();
  for (const number of [...numbers].reverse()) {
    out.integer(-number);
    out.integer(number);
  }
  const reader = Reader.create(out.finish());
  for (const number of numbers) {
    expect(Number(reader.int64())).toBe(number);
    expect(Number(reader.int64())).toBe(number === 0 ? 0 : -number);
  }
});

test('texts of any length and alphabet are whole, however much the writer has to grow', () => {
  const out = new BackwardWriter();
  const texts = ['', 'short', 'grün', '日本語', 'long '.repeat(50_000), 'ü'.repeat(90_000), 'end'];
  for (const text of [...texts].reverse()) {
    const before = out.written;
    out.string(text);
    out.varint(out.written - before);
  }
  const reader = Reader.create(out.finish());
  for (const text of texts) expect(reader.string()).toBe(text);
  out.reset();
  out.double(1.5);
  expect(Reader.create(out.finish()).double()).toBe(1.5);
});
