import type { Reporter, TestModule } from 'vitest/node';

const EVERY_MS = 15_000;

/** Prints now and then how many files are done, how many are left, and which run: a run takes minutes. */
export class Progress implements Reporter {
  readonly #print: (line: string) => void;
  readonly #clock: () => number;
  readonly #running = new Set<string>();
  #files = 0;
  #done = 0;
  #failed = 0;
  #begunMs = 0;
  #printedMs = 0;

  constructor(print: (line: string) => void = console.log, clock: () => number = () => performance.now()) {
    this.#print = print;
    this.#clock = clock;
  }

  onTestRunStart(files: readonly unknown[]): void {
    this.#files = files.length;
    this.#begunMs = this.#clock();
    this.#printedMs = this.#begunMs;
  }

  onTestModuleStart(file: Pick<TestModule, 'relativeModuleId'>): void {
    this.#running.add(file.relativeModuleId);
  }

  onTestModuleEnd(file: Pick<TestModule, 'relativeModuleId' | 'ok'>): void {
    this.#running.delete(file.relativeModuleId);
    this.#done += 1;
    if (!file.ok()) this.#failed += 1;
    const now = this.#clock();
    if (now - this.#printedMs < EVERY_MS) return;
    this.#printedMs = now;
    const failed = this.#failed === 0 ? '' : ` (${this.#failed} with failures)`;
    const running = this.#running.size === 0 ? '' : `; running: ${[...this.#running].sort().join(', ')}`;
    const left = this.#files - this.#done;
    const files = `${this.#done} of ${this.#files} files done`;
    this.#print(`${minutes(now - this.#begunMs)}: ${files}${failed}, ${left} left${running}`);
  }
}

/** `2:05` */
function minutes(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
