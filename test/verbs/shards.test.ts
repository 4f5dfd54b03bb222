import { describe, expect, test } from 'vitest';
import type { Entry } from '../../src/storage/store.ts';
import { hashOf, parseShards } from '../../src/verbs/shards.ts';

const LOWER = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const UPPER = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

const entry = (uid: string, namespace = ''): Entry => ({ uid, namespace }) as Entry;

// draft-eastlake-fnv, appendix C
test.each([
  ['', 0xcbf29ce484222325n],
  ['a', 0xaf63dc4c8601ec8cn],
  ['foobar', 0x85944171f73967e8n],
])('the hash of %j is that of FNV-1a in 64 bits', (text, hash) => {
  expect(hashOf(text)).toBe(hash);
});

describe('a selector', () => {
  test('divides objects into parts that have each object once', () => {
    const parts = [LOWER, UPPER].map((text) => parseShards(text));
    const uids = Array.from({ length: 1000 }, (_, n) => `${n}-of-many-objects`);
    const counts = parts.map(({ matches }) => uids.filter((uid) => matches(entry(uid))).length);
    expect(counts[0]).toBeGreaterThan(400);
    expect(counts[1]).toBe(1000 - (counts[0] ?? 0));
  });

  test('may have several ranges, in parentheses and any quotes, and has one form', () => {
    const shards = parseShards(` (${LOWER.replaceAll("'", '"')})||${UPPER} `);
    expect(shards.text).toBe(`${LOWER} || ${UPPER}`);
    expect(shards.matches(entry('any'))).toBe(true);
  });

  test('may be of the namespace', () => {
    const { matches } = parseShards(LOWER.replace('uid', 'namespace'));
    expect(matches(entry('x', 'a'))).toBe(hashOf('a') < 1n << 63n);
    expect(matches(entry('x', 'b'))).toBe(hashOf('b') < 1n << 63n);
  });

  test.each([
    ['', 'shardRange is missing'],
    [`${LOWER} ||`, 'shardRange is missing'],
    [`${LOWER} && ${UPPER}`, 'cannot be read'],
    [`${LOWER} ${UPPER}`, 'only || may follow a range'],
    [`(${LOWER}`, ') is missing'],
    ["size('a')", 'shardRange is missing'],
    [LOWER.replace('uid', 'name'), '"object.metadata.name" must be one of object.metadata.uid'],
    [`${LOWER} || ${UPPER.replace('uid', 'namespace')}`, 'must be of one field'],
    [LOWER.replace('0x8000000000000000', '0x8'), 'end must be a text of 0x and 16'],
    [LOWER.replace("'0x0000000000000000'", '0'), 'start must be a text of 0x and 16'],
    [LOWER.replace('0x8000000000000000', '0x0000000000000000'), 'must be less than end'],
  ])('%s is refused', (text, why) => {
    expect(() => parseShards(text)).toThrow(why);
    expect(() => parseShards(text)).toThrow('invalid shard selector: ');
  });
});
