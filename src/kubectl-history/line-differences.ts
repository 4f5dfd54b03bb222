import { type StructuredPatchHunk, structuredPatch } from 'diff';

/**
 * Comparing texts takes time quadratic in the differing lines: a fifth of a second for this many. Larger differences would be
 * unreadable, so both texts are shown whole instead.
 */
const MOST_DIFFERENT_LINES = 2000;

/** The differing lines of two texts, with context lines around each. Lines begin with a space, `-` or `+`. */
export function differences(old: string, becomes: string, around: number): StructuredPatchHunk[] {
  const patch = structuredPatch('', '', old, becomes, '', '', {
    context: around,
    maxEditLength: MOST_DIFFERENT_LINES,
  });
  return patch?.hunks ?? [allOf(old, becomes)];
}

function allOf(old: string, becomes: string): StructuredPatchHunk {
  const [removed, added] = [linesOf(old), linesOf(becomes)];
  return {
    ...{ oldStart: 1, oldLines: removed.length, newStart: 1, newLines: added.length },
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
