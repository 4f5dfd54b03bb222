import { RE2JS } from 're2js';
import { errorText } from '../util/error-text.ts';
import { callsIn, type SyntaxTree } from './calls.ts';
import { LINEAR_MATCHES } from './environment.ts';
import { MAX_DURATION_LENGTH } from './instrument.ts';
import { toBool, toDouble, toInt, toUint } from './libraries/conversions.ts';

/** Arguments that an expression writes out, and that are wrong for every input. */

interface LiteralProblem {
  readonly code: 'bad_literal' | 'bad_program';
  readonly text: string;
}

const badLiteral = (what: string): LiteralProblem => ({
  code: 'bad_literal',
  text: `invalid ${what} argument`,
});

/** A value that a program cannot be made with. */
const badProgram = (text: string): LiteralProblem => ({ code: 'bad_program', text });

/** Undefined: it has to be computed. */
export function writtenValue({ op, args }: Pick<SyntaxTree, 'op' | 'args'>): unknown {
  if (op === 'value') return args;
  const inner =
    op === '-_' && typeof args === 'object' && args !== null && 'args' in args ? args.args : undefined;
  return typeof inner === 'bigint' ? -inner : undefined;
}

/** The first such argument in an expression, and where it is. */
export function literalIn(root: unknown): (LiteralProblem & { readonly offset: number }) | undefined {
  for (const { name, given } of callsIn(root)) {
    const [first] = given;
    const problem = first && literalProblem(name, writtenValue(first));
    if (first !== undefined && problem?.code === 'bad_literal') return { ...problem, offset: first.start };
  }
  return undefined;
}

const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** Seconds from 1970 to the first and to the last year that a time can have. */
const [FIRST_SECOND, LAST_SECOND] = [-62_135_596_800n, 253_402_300_799n];

export function literalProblem(name: string, value: unknown): LiteralProblem | undefined {
  switch (name) {
    case 'duration':
      // Kubernetes reads no number here, though it has the function for numbers.
      if (typeof value === 'bigint') return badLiteral('duration');
      return typeof value !== 'string' || isDuration(value) ? undefined : badLiteral('duration');
    case 'int':
      return conversionProblem(() => toInt(value));
    case 'uint':
      return conversionProblem(() => toUint(value));
    case 'double':
      return conversionProblem(() => toDouble(value));
    case 'bool':
      return conversionProblem(() => toBool(value));
    case 'timestamp':
      return isTime(value) ? undefined : badLiteral('timestamp');
    case LINEAR_MATCHES:
      return patternProblem(value) === undefined ? undefined : badLiteral('matches');
    case 'find':
    case 'findAll': {
      const problem = patternProblem(value);
      return problem === undefined ? undefined : badProgram(problem);
    }
    default:
      return undefined;
  }
}

function conversionProblem(convert: () => unknown): LiteralProblem | undefined {
  try {
    convert();
    return undefined;
  } catch (error) {
    return badProgram(errorText(error));
  }
}

const isDuration = (value: string): boolean => value.length <= MAX_DURATION_LENGTH && DURATION.test(value);

function isTime(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= FIRST_SECOND && value <= LAST_SECOND;
  return typeof value !== 'string' || (TIME.test(value) && !Number.isNaN(Date.parse(value)));
}

function patternProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    RE2JS.compile(value);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
