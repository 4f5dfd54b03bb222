import { type Environment, Optional } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { hasKey, isMap, isNumber, isOptional, sizeOfMap } from '../cel-equality.ts';
import { CelMessage } from '../messages.ts';
import { aside } from '../mistakes.ts';
import {
  type Context,
  type Evaluator,
  iterationName,
  type MacroCall,
  type Node,
  type TypeChecker,
  type TypeName,
} from './macros.ts';

/** Functions of optional values that the library lacks (cel-go: cel/library, optionals). */
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

/** The zero of Go's times: the first second of the year 1. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');

function isZero(value: unknown): boolean {
  if (isNumber(value) || value instanceof Duration) return Number(value.valueOf()) === 0;
  if (value instanceof Date) return value.getTime() === FIRST_TIME;
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array)
    return value.length === 0;
  if (value instanceof CelMessage) return value.fields.size === 0;
  return value === null || value === false || (isMap(value) && sizeOfMap(value) === 0);
}

/** `optional.optMap(v, expression)`: applies the expression to the value, if there is one. */
function over({ ast, args, receiver }: MacroCall, name: 'optMap' | 'optFlatMap'): object {
  const [variable, body] = args;
  const bound = iterationName(variable, name);
  let inner: Context | undefined;
  return {
    receiver,
    body,
    async: false,
    typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
      const type = checker.check(receiver, context);
      if (type.kind !== 'optional' && type.kind !== 'dyn')
        throw checker.createError(
          'no_matching_overload',
          `found no matching overload for '${type}.hasValue()'`,
          ast,
        );
      inner = context.forkWithVariable(bound, type.valueType ?? checker.getType('dyn'));
      const result = checker.check(body, inner);
      if (name === 'optMap') return checker.registry.getOptionalType(result);
      if (result.kind !== 'optional' && result.kind !== 'dyn')
        throw checker.createError(
          'mixed_types',
          `found no matching overload for '_?_:_' applied to '(bool, ${result}, optional<dyn>)'`,
          ast,
        );
      return result;
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

/** The library's `has` accepts only fields of a variable; this one accepts a field of any expression: `has(a[0].b)`. */
export const HAS = 'has';
export const HAS_ANY = 'h_s';

/** Values that have fields without being maps. */
export interface Fields {
  hasField(name: string): boolean;
}

export const registerPresence = (environment: Environment): Environment =>
  environment.registerFunction(`${HAS_ANY}(ast): bool`, ({ ast, args: [tested] }: MacroCall) => {
    const { operand, field } = selection(tested);
    return {
      operand,
      async: false,
      typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
        if (operand === undefined)
          throw checker.createError('invalid_macro_argument', 'invalid argument to has() macro', tested);
        checker.check(operand, context);
        checkField(checker, tested, ast, context);
        return checker.getType('bool');
      },
      evaluate: (evaluator: Evaluator, _macro: unknown, context: Context): boolean =>
        hasField(evaluator.run(operand, context), field),
    };
  });

/** Kubernetes points at the macro where there is no such field. */
function checkField(checker: TypeChecker, tested: unknown, macro: unknown, context: Context): void {
  try {
    aside(() => checker.check(tested, context));
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
    throw checker.createError(error.code, error.message.split('\n')[0] ?? '', macro);
  }
}

function selection(node: Node | undefined): { operand: unknown; field: string } {
  if (node?.op !== '.' || !Array.isArray(node.args)) return { operand: undefined, field: '' };
  return { operand: node.args[0], field: String(node.args[1]) };
}

/** A value that cannot have fields has none, null too; a list alone refuses the question (cel-go: interpreter, refQualify). */
function hasField(value: unknown, field: string): boolean {
  if (isOptional(value)) return value.hasValue() && hasField(value.value(), field);
  if (isFields(value)) return value.hasField(field);
  if (isMap(value)) return hasKey(value, field);
  if (Array.isArray(value)) throw new Error("unsupported index type 'string' in list");
  return false;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && 'hasField' in value;
