import type { FieldError } from '../../api/status.ts';
import { type CelProgram, type CelVariables, compileCel } from '../../cel/program.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import type { Rule } from './config.ts';
import type { ConfigFields } from './config-fields.ts';

/** The variables of the configuration's expressions: the claims of a token, or the user made from them. */
export const CLAIMS: CelVariables = { claims: 'map<string, dyn>' };
export const USER: CelVariables = {
  user: { username: 'string', uid: 'string', groups: 'list<string>', extra: 'map<string, list<string>>' },
};

export interface Expression {
  readonly variables: CelVariables;
  /** Whether the expression must give a boolean. */
  readonly decides: boolean;
}

/** Undefined for an invalid expression, with a problem added. */
export function compileExpression(
  expression: string,
  field: string,
  { variables, decides }: Expression,
  problems: FieldError[],
): CelProgram | undefined {
  try {
    const program = compileCel(expression, variables);
    if (!decides || program.type === 'bool') return program;
    problems.push(invalidValue(field, expression, 'must evaluate to bool'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problems.push(invalidValue(field, expression, `compilation failed: ${why}`));
  }
  return undefined;
}

/** Rules with `expression` and `message`; expressions must be unique. */
export function compileRules(
  rules: readonly ConfigFields[],
  variables: CelVariables,
  problems: FieldError[],
): Rule[] {
  const seen = new Set<string>();
  return rules.flatMap((rule) => {
    const expression = rule.text('expression');
    const field = rule.at('expression');
    const message = rule.text('message');
    if (expression === '') problems.push(required(field, 'expression is required'));
    else if (seen.has(expression)) problems.push(duplicate(field, expression));
    else {
      seen.add(expression);
      const program = compileExpression(expression, field, { variables, decides: true }, problems);
      if (program !== undefined) return [{ program, message }];
    }
    return [];
  });
}
