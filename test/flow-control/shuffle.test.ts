import { expect, test } from 'vitest';
import { Dealer, deal, hashFlow, isDealable } from '../../src/flow-control/queueing/shuffle.ts';

test('a hand has the wanted number of different cards of the deck', () => {
  for (let n = 0; n < 2000; n += 1) {
    const hand = deal(hashFlow('schema', `user${n}`), 64, 6);
    expect(new Set(hand).size).toBe(6);
    expect(hand.every((card) => card >= 0 && card < 64)).toBe(true);
  }
});

test('each remainder of the hash is one card, shifted past those dealt before it', () => {
  // 7 = 1·4 + 3, then 1 = 0·3 + 1, then 0: cards 3, 1, 0.
  expect(deal(7n, 4, 3)).toEqual([3, 1, 0]);
  // 0 each time: every card is the first one left.
  expect(deal(0n, 4, 4)).toEqual([0, 1, 2, 3]);
  // 5 = 1·4 + 1, 1 = 0·3 + 1 → past 1, 0 → 0.
  expect(deal(5n, 4, 3)).toEqual([1, 2, 0]);
});

test('every card is dealt about equally often', () => {
  const counts = new Map<number, number>();
  for (let n = 0; n < 8000; n += 1)
    for (const card of deal(hashFlow('s', String(n)), 16, 4)) counts.set(card, (counts.get(card) ?? 0) + 1);
  expect(Math.min(...counts.values())).toBeGreaterThan(1800);
  expect(Math.max(...counts.values())).toBeLessThan(2200);
});

test('a flow is always dealt the same hand, by every server and after others were forgotten', () => {
  const one = new Dealer(128, 6);
  const hand = one.handOf('global-default', 'alice');
  for (let n = 0; n < 10_000; n += 1) one.handOf('global-default', `user${n}`);
  expect(one.handOf('global-default', 'alice')).toEqual(hand);
  expect(new Dealer(128, 6).handOf('global-default', 'alice')).toEqual(hand);
});

test('hands that 60 bits cannot deal are not dealt', () => {
  expect(isDealable({ queues: 64, handSize: 10 })).toBe(true);
  expect(isDealable({ queues: 64, handSize: 11 })).toBe(false);
  expect(isDealable({ queues: 4, handSize: 5 })).toBe(false);
  expect(isDealable({ queues: 0, handSize: 1 })).toBe(false);
});
