import type { CheckedNode, LibraryChecker, LibraryType } from './library-internals.ts';

/**
 * Collects all mistakes of an expression, as Kubernetes reports them: the library's check ends with the first one. While they
 * are collected, a mistaken part has any type, so that what surrounds it is not mistaken too.
 */

let collected: unknown[] | undefined;

/** The check ends with this many: each costs a pass over the expression, and 100 are shown. */
const MAX_MISTAKES = 200;

/** The errors that a check throws, the first {@link MAX_MISTAKES} of them. @throws RangeError when the stack was not deep enough */
export function mistakesOf(check: () => void): readonly unknown[] {
  const found: unknown[] = [];
  try {
    collecting(found, check);
  } catch (error) {
    if (found.length < MAX_MISTAKES) throw error;
  }
  return found;
}

/** Checks a part, the errors of which the caller words and reports. @throws the library's errors */
export const aside = <Result>(check: () => Result): Result => collecting(undefined, check);

function collecting<Result>(into: unknown[] | undefined, check: () => Result): Result {
  const outer = collected;
  collected = into;
  try {
    return check();
  } finally {
    collected = outer;
  }
}

/** Collects a mistake that leaves the rest of its node to be checked. @throws the mistake when none are collected */
export function note(mistake: Error): void {
  if (collected === undefined) throw mistake;
  collected.push(mistake);
  if (collected.length >= MAX_MISTAKES) throw mistake;
}

/** The type of a node; any type when its mistake is collected. */
export function orAnyType(checker: LibraryChecker, node: CheckedNode, check: () => LibraryType): LibraryType {
  if (collected === undefined) return check();
  try {
    return check();
  } catch (error) {
    if (error instanceof RangeError || collected.length >= MAX_MISTAKES) throw error;
    collected.push(error);
    node.checkedType = checker.getType('dyn');
    return node.checkedType;
  }
}
