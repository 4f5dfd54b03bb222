import type { Environment } from '@marcbachmann/cel-js';
import { celContains } from '../equality.ts';

/** What stands before the dot in `sets.contains(…)`. */
class Sets {}

/** Lists as sets (cel-go: ext/sets). */
export const registerSets = (environment: Environment): Environment =>
  environment
    .registerType('kubernetes.Sets', Sets)
    .registerConstant('sets', 'kubernetes.Sets', new Sets())
    .registerFunction(
      'kubernetes.Sets.contains(list, list): bool',
      (_: Sets, list: readonly unknown[], sub: readonly unknown[]) => containsAll(list, sub),
    )
    .registerFunction(
      'kubernetes.Sets.equivalent(list, list): bool',
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => containsAll(a, b) && containsAll(b, a),
    )
    .registerFunction(
      'kubernetes.Sets.intersects(list, list): bool',
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => a.some((item) => celContains(b, item)),
    );

const containsAll = (list: readonly unknown[], sub: readonly unknown[]): boolean =>
  sub.every((item) => celContains(list, item));
