import type { Steps } from '../../src/util/turns.ts';

/**
 * Runs work step by step. `stepMs`: what the longest step cost this thread, the same however much else the machine does. Of many
 * steps one in twenty does not count, because it may have met the collector of garbage.
 */
export function longestStep<Result>(steps: Steps<Result>): { result: Result; steps: number; stepMs: number } {
  const costs: number[] = [];
  for (;;) {
    const begun = process.threadCpuUsage();
    const step = steps.next();
    const { user, system } = process.threadCpuUsage(begun);
    costs.push((user + system) / 1000);
    if (step.done !== true) continue;
    costs.sort((a, b) => b - a);
    const spared = costs.length > 2 ? Math.ceil(costs.length / 20) : 0;
    return { result: step.value, steps: costs.length, stepMs: costs[spared] ?? 0 };
  }
}
