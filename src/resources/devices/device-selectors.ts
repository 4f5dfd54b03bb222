import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { DeviceSelector } from '../../api/types/resource/stored.ts';
import { compileSelector } from '../../cel/selector-problem.ts';
import { FieldPath } from '../../object/field-path.ts';
import { estimateCostOf } from '../../structural/rules/cost/estimate.ts';
import type { SizedType, SizedValue } from '../../structural/rules/cost/operand.ts';
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
      const place = path.field('cel').field('expression');
      const compiled = compileSelector(expression, at.isOn);
      if (compiled.problem !== undefined) place.invalid(expression, compiled.problem);
      else if (estimateCostOf(compiled.tree, DEVICE) > MOST_COST)
        place.forbidden('too complex, exceeds cost limit');
    }
}

/** How much an expression may cost in the scheduler. */
const MOST_COST = 1_000_000;

const simple = (maxElements: number): SizedType => ({ kind: 'simple', maxElements });

const [DOMAIN, ID, DRIVER, ATTRIBUTE] = [simple(63), simple(32), simple(63), simple(64)];
/** A device has at most so many attributes and capacities, of one domain or of several. */
const MOST_ENTRIES = 32;

const mapOf = (keys: SizedType, values: SizedType, knowsNames = false): SizedType => ({
  kind: 'map',
  maxElements: MOST_ENTRIES,
  ...{ keys, values, knowsNames },
});

const FIELDS: ReadonlyMap<string, SizedType> = new Map([
  ['driver', DRIVER],
  ['attributes', mapOf(DOMAIN, mapOf(ID, ATTRIBUTE, true))],
  ['capacity', mapOf(DOMAIN, mapOf(ID, simple(0)))],
  ['allowMultipleAllocations', simple(1)],
]);

/** How large a device may be (Kubernetes: dynamic-resource-allocation, cel). */
const DEVICE: SizedValue = {
  type: { kind: 'object', maxElements: 0, fieldType: (name) => FIELDS.get(name) },
  variable: 'device',
};
