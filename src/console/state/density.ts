import { signal } from '@preact/signals';

/** Known times of changes, in order: the bars of the time bar, and the targets of `[` and `]`. */
export const moments = signal<readonly number[]>([]);

/** The number of changes in each of `count` equal parts of the time. */
export function density(begin: number, end: number, count: number): readonly number[] {
  const bars = new Array<number>(count).fill(0);
  const width = (end - begin) / count;
  for (const at of moments.value) {
    const index = Math.floor((at - begin) / width);
    if (index >= 0 && index < count) bars[index] = (bars[index] ?? 0) + 1;
  }
  return bars;
}

/** A time shows the last change before it; the state before that is the one after the previous change. */
export function momentBefore(at: number): number | undefined {
  const current = moments.value.findLastIndex((one) => one <= at);
  return current > 0 ? moments.value[current - 1] : undefined;
}

export const momentAfter = (at: number): number | undefined => moments.value.find((one) => one > at);

/** The first millisecond after a change: revisions have microseconds, the page does not. */
export const shownSince = (at: string): number => Math.floor(Date.parse(at)) + 1;
