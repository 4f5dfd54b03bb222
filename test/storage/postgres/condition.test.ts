import { expect, test } from 'vitest';
import { Condition } from '../../../src/storage/postgres/connection/condition.ts';

test('a failure is logged once, then once a minute, and once when it is over', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const writes = new Condition(
    'writes',
    (line) => lines.push(line),
    () => nowMs,
  );
  writes.worked();
  expect(lines).toEqual([]);
  for (let attempt = 0; attempt < 700; attempt += 1) {
    writes.failed(`reason ${attempt}`);
    nowMs += 100;
  }
  writes.worked();
  writes.worked();
  expect(lines).toEqual([
    'writes: lost: reason 0',
    'writes: still lost after 60 s and 601 attempts: reason 600',
    'writes: back after 70 s and 700 attempts',
  ]);
});

test('a second failure is logged again', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const reads = new Condition(
    'reads',
    (line) => lines.push(line),
    () => nowMs,
  );
  for (const reason of ['first', 'second']) {
    reads.failed(reason);
    nowMs += 1234;
    reads.worked();
  }
  expect(lines).toEqual([
    'reads: lost: first',
    'reads: back after 1.2 s and 1 attempt',
    'reads: lost: second',
    'reads: back after 1.2 s and 1 attempt',
  ]);
});
