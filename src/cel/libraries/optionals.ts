import { type Environment, Optional } from '@marcbachmann/cel-js';
import { isMap, isNumber, sizeOfMap } from '../equality.ts';
import type { Context, Evaluator, MacroCall, TypeChecker, TypeName } from './macros.ts';
import { iterationName } from './macros.ts';

/** What the library lacks of optional values (cel-go: cel/library, optionals). */
export const registerOptionals = (environment: Environment): Environment =>
  environment
    .registerFunction('OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>', (_: unknown, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
    )
    .registerOperator('optional == optional', () => false)
    .registerFunction('optional.optMap(ast, ast): optional<dyn>', (call: MacroCall) => over(call, 'optMap'))
    .registerFunction('optional.optFlatMap(ast, ast): optional<dyn>', (call: MacroCall) =>
      over(call, 'optFlatMap'),
    );

function isZero(value: unknown): boolean {
  if (isNumber(value)) return Number(value.valueOf()) === 0;
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array)
    return value.length === 0;
  return value === null || value === false || (isMap(value) && sizeOfMap(value) === 0);
}

/** `optional.optMap(v, expression)`: the expression of what is there, if anything is. */
function over({ args, receiver }: MacroCall, name: 'optMap' | 'optFlatMap'): object {
  const [variable, body] = args;
  const bound = iterationName(variable, name);
  let inner: Context | undefined;
  return {
    receiver,
    body,
    async: false,
    typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
      const type = checker.check(receiver, context);
      inner = context.forkWithVariable(
        bound,
        type.kind === 'optional' && type.valueType ? type.valueType : checker.getType('dyn'),
      );
      checker.check(body, inner);
      return checker.getType('optional');
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): unknown {
      const value = evaluator.run(receiver, context);
      if (!(value instanceof Optional)) throw new Error('no such overload');
      if (!value.hasValue()) return Optional.none();
      const result = evaluator.run(body, inner?.reuse(context).setIterValue(value.value(), evaluator));
      return name === 'optMap' ? Optional.of(result) : result;
    },
  };
}
