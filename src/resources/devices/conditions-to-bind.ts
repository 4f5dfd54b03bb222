import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { mustBeDistinct } from './device-names.ts';
import { hasAtMost } from './list-limits.ts';

/** Conditions of a claim's devices for which the scheduler waits before it binds the pod. */
interface Binding {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

const MAX_CONDITIONS = 4;

export function validateBinding(at: FieldPath, binding: Binding): void {
  const { bindingConditions: good = [], bindingFailureConditions: bad = [] } = binding;
  const ofGood = at.field('bindingConditions');
  const ofBad = at.field('bindingFailureConditions');
  mustBeConditionNames(ofGood, good);
  mustBeConditionNames(ofBad, bad);
  for (const [path, condition] of ofBad.each(bad))
    if (good.includes(condition))
      path.invalid(condition, 'bindingFailureConditions must not overlap with bindingConditions');
  if (good.length === 0 && bad.length > 0)
    ofGood.invalid(good, 'bindingConditions are required to use bindingFailureConditions');
  if (bad.length === 0 && good.length > 0)
    ofBad.invalid(bad, 'bindingFailureConditions are required to use bindingConditions');
}

function mustBeConditionNames(at: FieldPath, names: readonly string[]): void {
  if (hasAtMost(at, MAX_CONDITIONS, names))
    for (const [path, name] of at.each(names)) path.invalidFor(name, checkQualifiedName(name));
  mustBeDistinct(at, names);
}
