import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type CelProgram, compileCel } from '../../cel/program.ts';

/** An expression that must hold for a webhook to be called. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** What expressions see. `object` and `oldObject` are null where there is none. */
export interface ConditionVariables {
  readonly object: JsonValue;
  readonly oldObject: JsonValue;
  readonly request: JsonObject;
}

export type ConditionsAnswer = { readonly matches: boolean } | { readonly errors: readonly string[] };

export const toMatchCondition = ({
  name = '',
  expression = '',
}: Partial<MatchCondition>): MatchCondition => ({
  name,
  expression,
});

const VARIABLES = { object: 'dyn', oldObject: 'dyn', request: 'map<string, dyn>' };

const programs = new WeakMap<MatchCondition, CelProgram>();

function programOf(condition: MatchCondition): CelProgram {
  const known = programs.get(condition);
  if (known !== undefined) return known;
  const compiled = compileCel(condition.expression, VARIABLES);
  programs.set(condition, compiled);
  return compiled;
}

/** One that is false decides, whatever became of the others (Kubernetes: admission/plugin/webhook/matchconditions). */
export function evaluateConditions(
  conditions: readonly MatchCondition[],
  { object, oldObject, request }: ConditionVariables,
): ConditionsAnswer {
  const errors: string[] = [];
  for (const condition of conditions) {
    try {
      const value = programOf(condition).evaluate({ object, oldObject, request });
      if (value === false) return { matches: false };
      if (value !== true) errors.push(`expression '${condition.expression}' gave no boolean`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      errors.push(`expression '${condition.expression}' resulted in error: ${why}`);
    }
  }
  return errors.length === 0 ? { matches: true } : { errors };
}
