import { type StructuredPatchHunk, structuredPatch } from 'diff';

/**
 * Texts that have little in common take long to compare, the square of the lines that differ: a fifth of a second for this many. Nobody
 * reads the result, so all of both is shown instead.
 */
const MOST_DIFFERENT_LINES = 2000;

/** Where two texts differ, with so many lines around each place. The lines begin with a space, `-` or `+`. */
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
