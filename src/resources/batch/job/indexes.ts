/**
 * Sets of a job's indexes as text: `1,3-5,7`, rising, each below the number of completions
 * (Kubernetes: batch validation, validateIndexesFormat).
 */
export interface Indexes {
  readonly total: number;
  /** Why the text is none; undefined when it is good. */
  readonly problem: string | undefined;
}

export function parseIndexes(text: string, completions: number): Indexes {
  let total = 0;
  let last: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return { total: 0, problem: interval };
    const [first, end] = interval;
    if (last !== undefined && last >= first) return { total: 0, problem: notRising(last, first) };
    total += end - first + 1;
    last = end;
  }
  return { total, problem: undefined };
}

/** First and last index, or what is wrong. */
function parseInterval(text: string, completions: number): readonly [number, number] | string {
  const limits = text.split('-');
  if (limits.length > 2) {
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  for (const limit of limits) {
    if (!/^\+?\d+$/.test(limit))
      return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
  }
  const [first = 0, end = first] = limits.map(Number);
  return limits.length === 2 && first >= end ? notRising(first, end) : [first, end];
}

const notRising = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;
