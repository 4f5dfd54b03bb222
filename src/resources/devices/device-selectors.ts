import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { DeviceSelector } from '../../api/types/resource/stored.ts';
import { selectorProblem } from '../../cel/selector-problem.ts';
import { FieldPath } from '../../object/field-path.ts';
import { Pace, type Steps } from '../../util/turns.ts';

/** A list of selectors, and its path. */
export type SelectorList = readonly [FieldPath, readonly DeviceSelector[] | undefined];

/**
 * Validates an object, and compiles its selectors if it is valid otherwise: there are at most so many as its rules allow.
 * `listsOf`: those that are new.
 */
export const compilingSelectors = <T extends ApiObject>(
  validate: (at: FieldPath, object: T, old?: T) => void,
  listsOf: (root: FieldPath, object: T, old?: T) => readonly SelectorList[],
) =>
  function* (object: T, old?: T, isOn?: Gates): Steps<FieldError[]> {
    const found: FieldError[] = [];
    const root = FieldPath.root(found, isOn);
    validate(root, object, old);
    if (found.length === 0) yield* compileAll(listsOf(root, object, old));
    return found;
  };

function* compileAll(lists: readonly SelectorList[]): Steps<void> {
  const pace = new Pace({ stepsBetween: 1 });
  for (const [at, selectors] of lists)
    for (const [path, { cel }] of at.each(selectors)) {
      if (pace.isOver()) yield* pace.pass();
      const expression = cel?.expression ?? '';
      const problem = selectorProblem(expression, at.isOn);
      if (problem !== undefined) path.field('cel').field('expression').invalid(expression, problem);
    }
}
