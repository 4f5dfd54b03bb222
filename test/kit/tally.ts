import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one uncoloured line, "N passed, N failed, N skipped", that a program can read. */
export class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const skipped = count.skipped + count.pending;
    console.log(`${count.passed} passed, ${count.failed} failed, ${skipped} skipped`);
  }
}
