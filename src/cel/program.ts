import type { Environment } from '@marcbachmann/cel-js';
import { type Minor, NEWEST_MINOR } from '../api/emulation.ts';
import type { JsonValue } from '../api/object-meta.ts';
import { errorText } from '../util/error-text.ts';
import { CALL_LIMIT, type Spent, withBudget } from './budget.ts';
import { balanceChains } from './chains.ts';
import { bracketsProblem, depthProblem, TOO_DEEP } from './depth.ts';
import { createEnvironment, LINEAR_MATCHES, MATCHES } from './environment.ts';
import { instrument } from './instrument.ts';
import { HAS, HAS_ANY } from './libraries/optionals.ts';
import type { SyntaxNode } from './library-internals.ts';
import { literalIn } from './literals.ts';
import { mapCode } from './map-code.ts';
import { newerName } from './newer.ts';

/** An invalid expression, or one that failed on its input. */
export class CelError extends Error {
  /** The library's code of the error; '' for errors from elsewhere. */
  readonly code: string;
  /** Offset in the expression in characters, if it is known. */
  readonly offset: number | undefined;

  constructor(message: string, { code = '', offset, ...options }: CelErrorOptions = {}) {
    super(message, options);
    this.name = 'CelError';
    this.code = code;
    this.offset = offset;
  }
}

interface CelErrorOptions extends ErrorOptions {
  readonly code?: string;
  readonly offset?: number | undefined;
}

/** CEL types (`string`, `map<string, dyn>`), or the fields of an object by name. */
export type CelVariables = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export interface CelProgram {
  readonly expression: string;
  /** The type of the result, if it is known before evaluation; otherwise `dyn`. */
  readonly type: string;
  /** The checked expression. */
  readonly tree: SyntaxNode;
  /** Integers of the result are bigint. @throws CelError */
  evaluate(variables: Readonly<Record<string, JsonValue>>): unknown;
  /** Like evaluate, for variables that are CEL values already; also returns the cost. @throws CelError */
  run(variables: Readonly<Record<string, unknown>>): Spent<unknown>;
}

/** @throws CelError when the expression cannot be read or its types do not fit */
export function compileCel(expression: string, variables: CelVariables): CelProgram {
  return compileIn(environmentOf(variables), expression);
}

/**
 * `newest`: the newest version of Kubernetes whose functions the expression may use; absent: all.
 * @throws CelError when the expression cannot be read or its types do not fit
 */
export function compileIn(environment: Environment, expression: string, newest?: Minor): CelProgram {
  try {
    const parsed = parseIn(environment, expression, newest);
    balanceChains(parsed.ast);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error('the types do not fit');
    const literal = literalIn(parsed.ast);
    if (literal !== undefined) throw new CelError(literal.text, literal);
    const tree = parsed.ast as unknown as SyntaxNode;
    instrument(tree);
    const run: CelProgram['run'] = (given) => {
      try {
        return withBudget(CALL_LIMIT, (): unknown => parsed({ ...given }));
      } catch (error) {
        throw toCelError(error);
      }
    };
    const evaluate: CelProgram['evaluate'] = (given) =>
      run(Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toCel(value)]))).result;
    return { expression, type: checked.type ?? 'dyn', tree, evaluate, run };
  } catch (error) {
    throw toCelError(error);
  }
}

/** Parses, and refuses deeper nesting than Kubernetes' parser. @throws CelError and the library's errors */
export function parseIn(
  environment: Environment,
  expression: string,
  newest: Minor = NEWEST_MINOR,
): ReturnType<Environment['parse']> {
  refuse(bracketsProblem(expression));
  const parsed = environment.parse(toSource(expression));
  refuse(depthProblem(parsed.ast));
  const newer = newerName(parsed.ast, newest);
  if (newer !== undefined)
    throw new CelError(`Unknown variable: ${newer.name}`, { code: 'unknown_variable', offset: newer.offset });
  return parsed;
}

/** @throws CelError for an expression of more code points */
export function refuseLong(expression: string, most: number): void {
  if (expression.length <= most) return;
  const size = [...expression].length;
  if (size > most) refuse(`expression code point size exceeds limit: size: ${size}, limit ${most}`);
}

/** The code of errors that have no place in the expression. */
export const NESTING = 'nesting';

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new CelError(problem, { code: NESTING });
}

/** Functions of the library that are replaced. The new names have the same length, which keeps positions in errors true. */
const RENAMED: readonly (readonly [string, string])[] = [
  [MATCHES, LINEAR_MATCHES],
  [HAS, HAS_ANY],
];
const CALLS = new RegExp(`\\b(${RENAMED.map(([name]) => name).join('|')})(?=\\s*\\()`, 'g');
const NAMES: ReadonlyMap<string, string> = new Map(RENAMED);
const rename = (code: string): string => code.replace(CALLS, (name) => NAMES.get(name) ?? name);

/** The expression as the library is to read it. */
const toSource = (expression: string): string => mapCode(expression, rename);

function environmentOf(variables: CelVariables): Environment {
  const environment = createEnvironment();
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === 'string') environment.registerVariable(name, type);
    else environment.registerVariable({ name, schema: { ...type } });
  }
  return environment;
}

/** The stack was not deep enough. */
export const isTooDeep = (error: unknown): boolean =>
  error instanceof RangeError && error.message.includes('call stack');

/** The first line of the library's message is the error; the others draw the place. */
export function toCelError(error: unknown): CelError {
  if (error instanceof CelError) return error;
  if (isTooDeep(error)) return new CelError('the expression is nested too deeply', { cause: error });
  const text = errorText(error);
  const [first = ''] = text.split('\n');
  // Brackets were counted before, so these are members, or members and brackets.
  if (first.startsWith('Exceeded maxDepth')) return new CelError(TOO_DEEP, { code: NESTING, cause: error });
  const message = RENAMED.reduce((told, [name, ours]) => told.replaceAll(ours, name), first);
  return new CelError(message, { cause: error, ...placeOf(error) });
}

function placeOf(error: unknown): { code?: string; offset?: number } {
  if (!(error instanceof Error) || !('code' in error) || !('range' in error)) return {};
  const { code, range } = error;
  const start = fieldOf(range, 'start');
  const node = 'node' in error ? error.node : undefined;
  return {
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof start === 'number' ? { offset: signOf(node) ?? start } : {}),
  };
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const SIGNS: Readonly<Record<string, string>> = { '[]': '[', '[?]': '[', '?:': '?' };

/** Kubernetes points at the sign of an operation: the operator, the dot, the parenthesis of a call. */
function signOf(node: unknown): number | undefined {
  const [op, args, input] = [fieldOf(node, 'op'), fieldOf(node, 'args'), fieldOf(node, 'input')];
  if (typeof op !== 'string' || typeof input !== 'string' || !Array.isArray(args)) return undefined;
  const isCall = op === 'call' || op === 'rcall';
  const before = op === 'rcall' ? args[1] : op === 'call' ? undefined : args[0];
  const from = before === undefined ? fieldOf(node, 'start') : fieldOf(before, 'end');
  if (typeof from !== 'number') return undefined;
  const at = input.indexOf(isCall ? '(' : (SIGNS[op] ?? op), from);
  return at < 0 ? undefined : at;
}

/** JSON as CEL sees it: whole numbers are integers. */
export function toCel(value: JsonValue | undefined): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value !== 'object' || value === null) return value;
  // A Map, so that no client's key has a meaning to JavaScript.
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
}

/** An expression ready to run, or the reason why it cannot be compiled. */
export type Compiled =
  | { readonly expression: string; readonly program: CelProgram }
  | {
      readonly expression: string;
      readonly program: undefined;
      readonly problem: string;
      /** The types fit, but no program can be made, which Kubernetes calls an internal error. */
      readonly isInternal?: boolean;
    };
