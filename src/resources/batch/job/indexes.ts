/** Indexes of a job as its status lists them: `1,3-5,7`. */

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Validates a list of indexes below `completions`; undefined: it is valid. */
export function problemOfIndexes(indexes: string, completions: number): string | undefined {
  if (indexes === '') return undefined;
  let before: number | undefined;
  for (const text of indexes.split(',')) {
    const interval = parseInterval(text, completions);
    if (typeof interval === 'string') return interval;
    if (before !== undefined && before >= interval.first)
      return `non-increasing order, previous: ${before}, current: ${interval.first}`;
    before = interval.last;
  }
  return undefined;
}

/** The first index in both lists. Ignores malformed intervals. */
export function overlapOf(some: string, others: string, completions: number): number | undefined {
  const left = intervalsOf(some, completions);
  const right = intervalsOf(others, completions);
  let [at, beside] = [0, 0];
  for (;;) {
    const one = left[at];
    const other = right[beside];
    if (one === undefined || other === undefined) return undefined;
    if (one.first <= other.last && other.first <= one.last) return Math.max(one.first, other.first);
    if (one.first <= other.first) at += 1;
    else beside += 1;
  }
}

const intervalsOf = (indexes: string, completions: number): Interval[] =>
  indexes === ''
    ? []
    : indexes
        .split(',')
        .map((text) => parseInterval(text, completions))
        .filter((interval) => typeof interval !== 'string');

/** Returns a text for an error. */
function parseInterval(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2)
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^[+-]?\d+$/.test(limit))
      return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${JSON.stringify(limit)}`;
    numbers.push(Number(limit));
  }
  const [first = 0, last = first] = numbers;
  if (limits.length > 1 && first >= last) return `non-increasing order, previous: ${first}, current: ${last}`;
  return { first, last };
}
