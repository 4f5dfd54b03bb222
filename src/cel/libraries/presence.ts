import type { Environment } from '@marcbachmann/cel-js';
import { hasKey, isMap, isOptional } from '../equality.ts';
import type { Context, Evaluator, MacroCall, Node, TypeChecker, TypeName } from './macros.ts';

/** The library's `has` follows fields of a variable only; ours tests a field of whatever stands before it: `has(a[0].b)`. */
export const HAS = 'has';
export const HAS_ANY = 'h_s';

/** Of values that have fields without being maps. */
export interface Fields {
  hasField(name: string): boolean;
}

export const registerPresence = (environment: Environment): Environment =>
  environment.registerFunction(`${HAS_ANY}(ast): bool`, ({ args: [tested] }: MacroCall) => {
    const { operand, field } = selection(tested);
    return {
      operand,
      async: false,
      typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
        if (operand === undefined)
          throw checker.createError('invalid_macro_argument', 'invalid argument to has() macro', tested);
        checker.check(tested, context);
        return checker.getType('bool');
      },
      evaluate: (evaluator: Evaluator, _macro: unknown, context: Context): boolean =>
        hasField(evaluator.run(operand, context), field),
    };
  });

function selection(node: Node | undefined): { operand: unknown; field: string } {
  if (node?.op !== '.' || !Array.isArray(node.args)) return { operand: undefined, field: '' };
  return { operand: node.args[0], field: String(node.args[1]) };
}

function hasField(value: unknown, field: string): boolean {
  if (isOptional(value)) return value.hasValue() && hasField(value.value(), field);
  if (isFields(value)) return value.hasField(field);
  if (isMap(value)) return hasKey(value, field);
  throw new Error('no such overload');
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && 'hasField' in value;
