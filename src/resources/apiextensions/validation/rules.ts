import type { FieldError } from '../../../api/status.ts';
import type { CustomResourceDefinition } from '../../../api/types/apiextensions/v1.ts';
import { equal } from '../../../object/equality.ts';
import { FieldPath } from '../../../object/field-path.ts';
import { checkRules } from '../../../structural/rules/check.ts';
import type { Steps } from '../../../util/concurrency.ts';
import { placesOf } from './version.ts';

/**
 * Whether the rules of all schemas compile, and what they may cost. A schema that is as it was has been found good before. Runs
 * on definitions that are valid otherwise: types of expressions come from the schema.
 */
export function* validateRules(
  { spec = {} }: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): Steps<FieldError[]> {
  const found: FieldError[] = [];
  const at = FieldPath.root(found).field('spec');
  const before = old?.spec?.versions ?? [];
  for (const [path, version] of placesOf(at, spec.versions ?? [], 'schema')) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined || before.some((one) => equal(one.schema, version.schema))) continue;
    yield* checkRules(path.field('openAPIV3Schema'), schema);
  }
  return found;
}
