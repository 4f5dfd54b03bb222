import type { Environment } from '@marcbachmann/cel-js';
import { createEnvironment } from '../environment.ts';
import type { SyntaxNode } from '../instrument.ts';
import { AUTHORIZER } from '../libraries/authorizer.ts';
import { CelError, type CelProgram, type Compiled, compileIn } from '../program.ts';
import { describeIssue } from './issues.ts';
import { registerRequest } from './request.ts';
import { PolicyVariables } from './variables.ts';

/** The type that an expression must return. */
export type Gives = 'bool' | 'string' | 'string or null' | 'anything';

const WANTED: Readonly<Record<Gives, readonly string[]>> = {
  bool: ['bool'],
  string: ['string'],
  'string or null': ['string', 'null'],
  anything: [],
};

const VARIABLES = 'kubernetes.variables';
let base: { readonly environment: Environment; readonly names: ReadonlySet<string> } | undefined;

/** The environment of all policies, made when the first one is compiled. */
function policyBase(): NonNullable<typeof base> {
  if (base !== undefined) return base;
  const environment = registerRequest(createEnvironment());
  for (const name of ['object', 'oldObject', 'namespaceObject']) environment.registerVariable(name, 'dyn');
  const names = new Set(environment.getDefinitions().functions.map(({ name }) => name));
  base = { environment, names };
  return base;
}

/**
 * Compiles the expressions of one policy (Kubernetes: admission/plugin/cel, compile and composition). An expression knows the
 * variables that were compiled before it. An expression whose type cannot be determined is accepted.
 */
export class PolicyCompiler {
  readonly #hasParams: boolean;
  readonly #fields: Record<string, string> = {};
  #environments: { authorizer?: Environment; plain?: Environment } = {};

  constructor(hasParams: boolean) {
    this.#hasParams = hasParams;
  }

  variable(name: string, expression: string): Compiled {
    const compiled = this.compile(expression, 'anything');
    this.#fields[name] = fieldType(compiled.program?.type ?? 'dyn');
    this.#environments = {};
    return compiled;
  }

  /** `authorizer`: whether the expression may ask about rights. */
  compile(expression: string, gives: Gives, { authorizer = true } = {}): Compiled {
    try {
      const program = compileIn(this.#environment(authorizer), expression);
      const problem = wrongType(program, gives);
      return problem === undefined ? { expression, program } : { expression, program: undefined, problem };
    } catch (error) {
      const issue = error instanceof CelError ? error : new CelError(String(error));
      const text = describeIssue(issue, expression, (name) => policyBase().names.has(name));
      return { expression, program: undefined, problem: `compilation failed: ${text}` };
    }
  }

  #environment(authorizer: boolean): Environment {
    const which = authorizer ? 'authorizer' : 'plain';
    this.#environments[which] ??= this.#create(authorizer);
    return this.#environments[which];
  }

  #create(authorizer: boolean): Environment {
    const environment = policyBase().environment.clone();
    environment.registerType(VARIABLES, { ctor: PolicyVariables, fields: { ...this.#fields } });
    environment.registerVariable('variables', VARIABLES);
    if (this.#hasParams) environment.registerVariable('params', 'dyn');
    if (authorizer) environment.registerVariable('authorizer', AUTHORIZER);
    return environment;
  }
}

/** The type of a variable for other expressions: only types that do not depend on values are kept. */
function fieldType(type: string): string {
  if (/^(bool|string|int|uint|double|bytes|kubernetes\.|net\.|google\.protobuf\.)/.test(type)) return type;
  return 'dyn';
}

function wrongType({ type, tree }: CelProgram, gives: Gives): string | undefined {
  const wanted = WANTED[gives];
  if (wanted.length === 0 || wanted.includes(type)) return undefined;
  if (type === 'dyn' && !isUntyped(tree)) return undefined;
  return gives === 'string or null'
    ? 'must evaluate to one of [string null_type]'
    : `must evaluate to ${gives}`;
}

const UNTYPED: ReadonlySet<unknown> = new Set(['object', 'oldObject', 'params']);

/** A field of an untyped value, which is refused where a type is required. Elsewhere `dyn` may mean that the library gave up. */
function isUntyped({ op, args }: SyntaxNode): boolean {
  if (op === 'id') return UNTYPED.has(args);
  const [operand] = Array.isArray(args) ? args : [];
  return (op === '.' || op === '[]') && isUntyped(operand as SyntaxNode);
}
