import { Environment } from '@marcbachmann/cel-js';
import type { JsonValue } from '../api/object-meta.ts';
import { LINEAR_MATCHES, MATCHES, registerFunctions } from './functions.ts';
import { mapCode } from './source.ts';

/** An expression that is wrong, or that failed on what it was given. */
export class CelError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CelError';
  }
}

/** CEL types (`string`, `map<string, dyn>`), or the fields of an object by name. */
export type CelVariables = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export interface CelProgram {
  readonly expression: string;
  /** What the expression gives as far as that can be told beforehand; `dyn` where it cannot. */
  readonly type: string;
  /** Integers of the result are bigint. @throws CelError */
  evaluate(variables: Readonly<Record<string, JsonValue>>): unknown;
}

/** Of what an administrator writes; more is a mistake or an attack. */
const LIMITS = { maxAstNodes: 20_000, maxDepth: 100 };

/** @throws CelError when the expression cannot be read or its types do not fit */
export function compileCel(expression: string, variables: CelVariables): CelProgram {
  const environment = createEnvironment(variables);
  const source = mapCode(expression, (code) =>
    code.replace(new RegExp(`\\b${MATCHES}(?=\\s*\\()`, 'g'), LINEAR_MATCHES),
  );
  try {
    const run = environment.parse(source);
    const checked = run.check();
    if (!checked.valid) throw checked.error ?? new Error('the types do not fit');
    return {
      expression,
      type: checked.type ?? 'dyn',
      evaluate: (given) => {
        try {
          return run(Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toCel(value)])));
        } catch (error) {
          throw toCelError(error);
        }
      },
    };
  } catch (error) {
    throw toCelError(error);
  }
}

function createEnvironment(variables: CelVariables): Environment {
  const options = {
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  };
  const environment = registerFunctions(new Environment(options));
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === 'string') environment.registerVariable(name, type);
    else environment.registerVariable({ name, schema: { ...type } });
  }
  return environment;
}

/** The first line tells what is wrong; the others draw the place. */
function toCelError(error: unknown): CelError {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split('\n');
  return new CelError(first.replaceAll(LINEAR_MATCHES, MATCHES), { cause: error });
}

/** JSON as CEL sees it: whole numbers are integers. */
function toCel(value: JsonValue | undefined): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (typeof value !== 'object' || value === null) return value;
  // A Map, so that no key of the caller's can mean anything to JavaScript.
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
}
