import { compileCel } from '../../cel/program.ts';
import type { MatchCondition } from './match-conditions.ts';

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
