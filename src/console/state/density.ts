import { signal } from '@preact/signals';

/** Moments of changes that the page knows of, in order: what the time bar shows, and where `[` and `]` go. */
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

/** The state that is shown is that of the last change until then; the one before it is what the change before that one made. */
export function momentBefore(at: number): number | undefined {
  const current = moments.value.findLastIndex((one) => one <= at);
  return current > 0 ? moments.value[current - 1] : undefined;
}

export const momentAfter = (at: number): number | undefined => moments.value.find((one) => one > at);

/** The first millisecond in which the change is made: moments of revisions know microseconds, those of the page do not. */
export const shownSince = (at: string): number => Math.floor(Date.parse(at)) + 1;
