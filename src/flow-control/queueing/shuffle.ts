import { hash } from 'node:crypto';

/**
 * Shuffle sharding: a flow is dealt a few of the queues, always the same ones, and uses the shortest of them. Two flows
 * share some queues often and all of them hardly ever (with 128 queues and hands of 6 once in 5 thousand million pairs), so a
 * flow that fills its queues leaves nearly every other one a way around.
 */

/** More of the 64 bits would deal the last card unevenly. */
const MAX_HASH_BITS = 60;

/** Whether a 64-bit hash holds enough to deal such hands. */
export function isDealable({ queues, handSize }: { queues: number; handSize: number }): boolean {
  if (queues < 1 || handSize < 1 || handSize > queues) return false;
  return Math.ceil(Math.log2(queues) * handSize) <= MAX_HASH_BITS;
}

/** The identity of a flow as 64 bits. Every server deals the same hands. */
export function hashFlow(schema: string, distinguisher: string): bigint {
  return hash('sha256', `${schema}\0${distinguisher}`, 'buffer').readBigUInt64LE();
}

/**
 * Deals `handSize` different numbers below `deckSize`. Each card is a remainder of the hash, shifted past the cards that
 * were dealt before it.
 */
export function deal(entropy: bigint, deckSize: number, handSize: number): number[] {
  let rest = entropy;
  const hand: number[] = [];
  const remainders: number[] = [];
  for (let at = 0; at < handSize; at += 1) {
    const left = BigInt(deckSize - at);
    let card = Number(rest % left);
    rest /= left;
    remainders.push(card);
    for (let before = at - 1; before >= 0; before -= 1) if (card >= (remainders[before] ?? 0)) card += 1;
    hand.push(card);
  }
  return hand;
}

/** Flows remembered with their hands: hashing anew costs more than all the rest of an uncontended request. */
const MAX_REMEMBERED = 4096;

export class Dealer {
  readonly #deckSize: number;
  readonly #handSize: number;
  readonly #hands = new Map<string, readonly number[]>();

  constructor(deckSize: number, handSize: number) {
    this.#deckSize = deckSize;
    this.#handSize = handSize;
  }

  handOf(schema: string, distinguisher: string): readonly number[] {
    const flow = `${schema}\0${distinguisher}`;
    let hand = this.#hands.get(flow);
    if (hand === undefined) {
      // Callers choose their names freely; forgetting all is cheap and bounds the memory that they can fill.
      if (this.#hands.size >= MAX_REMEMBERED) this.#hands.clear();
      hand = deal(hashFlow(schema, distinguisher), this.#deckSize, this.#handSize);
      this.#hands.set(flow, hand);
    }
    return hand;
  }
}
