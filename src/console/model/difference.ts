import { diffArrays, diffWordsWithSpace } from 'diff';

/** Two texts side by side: rows of equal lines, and of lines opposite each other. */
export type Row =
  | { readonly kind: 'same'; readonly left: Side; readonly right: Side }
  | { readonly kind: 'changed'; readonly left: Side; readonly right: Side }
  | { readonly kind: 'removed'; readonly left: Side; readonly right: undefined }
  | { readonly kind: 'added'; readonly left: undefined; readonly right: Side };

export interface Side {
  /** Starts at 1. */
  readonly number: number;
  readonly pieces: readonly { readonly text: string; readonly isChanged: boolean }[];
}

/** A run of rows; long runs of equal rows are folded. */
export interface Hunk {
  readonly isFolded: boolean;
  readonly rows: readonly Row[];
}

const CONTEXT = 3;
/** Longer lines are not compared by words: the result would be unreadable. */
const LONG_LINE = 500;
/** Texts that differ more are shown as removed and added: comparing them takes minutes. */
const MAX_EDITS = 1500;
/** Larger differences are not compared by words. */
const MOST_WITH_WORDS = 1000;

export function differenceOf(before: readonly string[], after: readonly string[]): Row[] {
  const parts = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS });
  const rows: Row[] = [];
  let left = 0;
  let right = 0;
  let removed: string[] = [];
  let pairs = 0;
  const flush = (added: readonly string[]): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++)
      rows.push(
        paired(removed[index], added[index], {
          ...{ left: left + index + 1, right: right + index + 1 },
          withWords: ++pairs <= MOST_WITH_WORDS,
        }),
      );
    left += removed.length;
    right += added.length;
    removed = [];
  };
  const whole = [
    { value: [...before], removed: true, added: false },
    { value: [...after], removed: false, added: true },
  ];
  for (const part of parts ?? whole) {
    if (part.removed === true) {
      flush([]);
      removed = part.value;
    } else if (part.added === true) flush(part.value);
    else {
      flush([]);
      for (const text of part.value)
        rows.push({ kind: 'same', left: plain(++left, text), right: plain(++right, text) });
    }
  }
  flush([]);
  return rows;
}

function paired(
  before: string | undefined,
  after: string | undefined,
  numbers: { readonly left: number; readonly right: number; readonly withWords: boolean },
): Row {
  if (after === undefined)
    return { kind: 'removed', left: plain(numbers.left, before ?? ''), right: undefined };
  if (before === undefined) return { kind: 'added', left: undefined, right: plain(numbers.right, after) };
  if (!numbers.withWords || before.length > LONG_LINE || after.length > LONG_LINE)
    return { kind: 'changed', left: plain(numbers.left, before), right: plain(numbers.right, after) };
  const words = diffWordsWithSpace(before, after);
  return {
    kind: 'changed',
    left: {
      number: numbers.left,
      pieces: words
        .filter(({ added }) => !added)
        .map(({ value, removed }) => ({ text: value, isChanged: removed })),
    },
    right: {
      number: numbers.right,
      pieces: words
        .filter(({ removed }) => !removed)
        .map(({ value, added }) => ({ text: value, isChanged: added })),
    },
  };
}

const plain = (number: number, text: string): Side => ({ number, pieces: [{ text, isChanged: false }] });

/** More lines would take seconds to draw. */
export const MOST_IN_HUNK = 1000;

/** The hunks that have the first `most` rows; folded ones count as a row. */
export function firstHunks(hunks: readonly Hunk[], most: number): readonly Hunk[] {
  let rows = 0;
  const end = hunks.findIndex((hunk) => {
    if (rows >= most) return true;
    rows += hunk.isFolded ? 1 : hunk.rows.length;
    return false;
  });
  return end < 0 ? hunks : hunks.slice(0, end);
}

/** Folds rows more than three lines from a change; splits a long run of changes into several hunks. */
export function toHunks(rows: readonly Row[]): Hunk[] {
  const isNear = new Array<boolean>(rows.length).fill(false);
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'same') continue;
    isNear.fill(true, Math.max(0, index - CONTEXT), Math.min(rows.length, index + CONTEXT + 1));
  }
  const hunks: { isFolded: boolean; rows: Row[] }[] = [];
  for (const [index, row] of rows.entries()) {
    const isFolded = isNear[index] !== true;
    const last = hunks.at(-1);
    if (last?.isFolded === isFolded && (isFolded || last.rows.length < MOST_IN_HUNK)) last.rows.push(row);
    else hunks.push({ isFolded, rows: [row] });
  }
  // Folding one line saves no space.
  return hunks.map((hunk) => (hunk.rows.length < 2 ? { ...hunk, isFolded: false } : hunk));
}
