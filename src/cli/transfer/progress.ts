import { writeSync } from 'node:fs';

const WIDTH = 24;
const EVERY_MS = 100;
/** Erases the line, and returns to its begin. */
const ERASE = '\r\x1b[2K';

const number = new Intl.NumberFormat('en-US');

/** Progress shows how far a transfer is: a bar on a terminal that can erase it, and nothing elsewhere. Other lines appear above it. */
export class Progress {
  readonly #isShown: boolean;
  readonly #write: (text: string) => void;
  readonly #began = performance.now();
  #shownAt = 0;
  #done = 0;
  #total = 0;
  #label = '';

  constructor(
    isShown = process.stderr.isTTY === true && process.env.TERM !== 'dumb',
    write: (text: string) => void = (text) => writeSync(2, text),
  ) {
    this.#isShown = isShown;
    this.#write = write;
  }

  get done(): number {
    return this.#done;
  }

  /** Names what is under way, and how much more there is, where that is known. */
  begin(label: string, more = 0): void {
    this.#label = label;
    this.#total += more;
  }

  add(count: number): void {
    this.#done += count;
    if (!this.#isShown || performance.now() - this.#shownAt < EVERY_MS) return;
    this.#shownAt = performance.now();
    this.#write(`${ERASE}${this.text()}`);
  }

  /**
   *     [############            ] 50,000 of 100,000, 5,200/s, configmaps
   *     50,000, 5,200/s, configmaps
   */
  text(elapsedMs = performance.now() - this.#began): string {
    const rate = number.format(Math.round((this.#done * 1000) / Math.max(elapsedMs, 1)));
    const share = Math.min(this.#done / Math.max(this.#total, 1), 1);
    const bar = `[${'#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH)}] `;
    const hasTotal = this.#total >= this.#done && this.#total > 0;
    const count = `${number.format(this.#done)}${hasTotal ? ` of ${number.format(this.#total)}` : ''}`;
    return `${hasTotal ? bar : ''}${count}, ${rate}/s, ${this.#label}`;
  }

  /** Writes a line above the bar. */
  say(line: string): void {
    this.end();
    this.#write(`${line}\n`);
  }

  /** Writes a line of the result, to the standard output, where the bar was. */
  tell(line: string): void {
    this.end();
    process.stdout.write(`${line}\n`);
  }

  end(): void {
    if (this.#isShown) this.#write(ERASE);
  }
}
