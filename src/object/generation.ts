import type { ObjectMeta } from '../api/object-meta.ts';

/** The generation after this one; 1 for an object without any. The last int64 is followed by the first, as in Go. */
export function nextGeneration({ generation }: ObjectMeta): number | bigint {
  if (typeof generation === 'bigint' || generation === Number.MAX_SAFE_INTEGER) {
    return BigInt.asIntN(64, BigInt(generation) + 1n);
  }
  return (generation ?? 0) + 1;
}
