/** Costs and sizes between a least and a most, as whole numbers that stop growing at 2^64 (cel-go, checker/cost.go). */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const MOST = 2 ** 64;

export const exactly = (value: number): Range => ({ min: value, max: value });
export const NOTHING = exactly(0);
export const ONE = exactly(1);
export const ANY: Range = { min: 0, max: MOST };

const bounded = (value: number): number => Math.min(value, MOST);

export const add = (a: Range, b: Range): Range => ({
  min: bounded(a.min + b.min),
  max: bounded(a.max + b.max),
});

export const sum = (ranges: readonly Range[]): Range => ranges.reduce(add, NOTHING);

export const multiply = (a: Range, b: Range): Range => ({
  min: bounded(a.min * b.min),
  max: bounded(a.max * b.max),
});

/** Rounded up. */
export const scale = ({ min, max }: Range, factor: number): Range => ({
  min: bounded(Math.ceil(min * factor)),
  max: bounded(Math.ceil(max * factor)),
});

/** From the least of either to the most of either. */
export const either = (a: Range, b: Range): Range => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
});
