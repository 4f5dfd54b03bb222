import type { JsonObject } from '../../api/object-meta.ts';
import { compileCel } from '../../cel/program.ts';
import { joinErrors } from '../authorizer.ts';

/** A compiled CEL expression over `request`, the spec of a v1 review. */
export interface MatchCondition {
  readonly expression: string;
  /** @throws Error when the evaluation fails or gives no boolean */
  evaluate(spec: JsonObject): boolean;
}

/**
 * For WebhookOptions.matches: true when all conditions are true. One false condition decides, even if others failed; errors count
 * only when none is false.
 */
export function allMatch(conditions: readonly MatchCondition[]): (spec: JsonObject) => boolean {
  return (spec) => {
    const errors: string[] = [];
    for (const { expression, evaluate } of conditions) {
      try {
        if (!evaluate(spec)) return false;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        errors.push(`cel evaluation error: expression '${expression}' resulted in error: ${why}`);
      }
    }
    const text = joinErrors(errors);
    if (text !== undefined) throw new Error(text);
    return true;
  };
}

/** `request` is the spec of a v1 review. @throws Error for an invalid expression, or one that gives no boolean */
export function compileMatchCondition(expression: string): MatchCondition {
  const program = compileCel(expression, { request: 'map<string, dyn>' });
  if (program.type !== 'bool' && program.type !== 'dyn')
    throw new Error(`matchConditions: ${JSON.stringify(expression)} must evaluate to bool`);
  return {
    expression,
    evaluate: (spec) => {
      const value = program.evaluate({ request: spec });
      if (typeof value === 'boolean') return value;
      throw new Error('it gave no boolean');
    },
  };
}
