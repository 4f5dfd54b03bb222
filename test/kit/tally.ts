import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with what failed, a line each, and one uncoloured line, "N passed, N failed, N skipped", that a program can read. The
 * details stand far above, between the errors of all.
 */
export class Tally implements Reporter {
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void = console.log) {
    this.#print = print;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      const failed: string[] = [];
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state] += 1;
        if (state === 'failed') failed.push(test.fullName);
      }
      if (failed.length === 0 && !module.ok()) failed.push('(outside of its tests)');
      for (const name of failed) this.#print(`failed: ${module.relativeModuleId} > ${name}`);
    }
    const skipped = count.skipped + count.pending;
    this.#print(`${count.passed} passed, ${count.failed} failed, ${skipped} skipped`);
  }
}
