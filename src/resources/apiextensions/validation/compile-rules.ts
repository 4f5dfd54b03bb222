import { newestForExpressions } from '../../../api/feature-gates.ts';
import type { CustomResourceDefinition } from '../../../api/types/apiextensions/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkRules } from '../../../structural/rules/check-rules.ts';
import { type Schema, structuralBelow } from '../../../structural/schema-node.ts';
import type { Steps } from '../../../util/turns.ts';
import { placesOf } from './validate-versions.ts';

/**
 * Checks that the rules of all schemas compile, and estimates their costs. Skips unchanged schemas. Takes definitions that are
 * valid otherwise: types of expressions come from the schema.
 */
export function* validateRules(
  root: FieldPath,
  { spec = {} }: CustomResourceDefinition,
  old?: CustomResourceDefinition,
): Steps<void> {
  const before = old?.spec?.versions ?? [];
  const stored = new Set(before.flatMap(({ schema }) => [...expressionsIn(schema?.openAPIV3Schema)]));
  const limit = { newest: newestForExpressions(root.isOn), stored };
  for (const [path, version] of placesOf(root.field('spec'), spec.versions ?? [], 'schema')) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined || before.some((one) => equal(one.schema, version.schema))) continue;
    yield* checkRules(path.field('openAPIV3Schema'), schema, limit);
  }
}

/** The rules of a schema that is stored, with the expressions of their messages. */
function* expressionsIn(schema: Schema | undefined): Generator<string> {
  if (schema === undefined) return;
  for (const { rule = '', messageExpression = '' } of schema['x-kubernetes-validations'] ?? []) {
    yield rule;
    yield messageExpression;
  }
  for (const below of structuralBelow(schema)) yield* expressionsIn(below);
}
