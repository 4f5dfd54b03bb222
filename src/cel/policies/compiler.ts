import type { Environment } from '@marcbachmann/cel-js';
import type { Minor } from '../../api/emulation.ts';
import { DEFAULT_MINOR } from '../../version.ts';
import { OutOfBudget } from '../budget.ts';
import { createEnvironment } from '../environment.ts';
import { describeMistakes, FullCheck, functionsOf, Mistakes } from '../full-check.ts';
import { describeFailure, typeText } from '../issues.ts';
import { AUTHORIZER } from '../libraries/authorizer-checks.ts';
import type { Fields } from '../libraries/optionals.ts';
import { findPatchType, JSON_PATCH, OBJECT, registerPatches } from '../libraries/patch-types.ts';
import type { SyntaxNode } from '../library-internals.ts';
import { allowMessages } from '../messages.ts';
import type { NewExpressions } from '../newer.ts';
import { type CelProgram, type Compiled, compileIn } from '../program.ts';
import { REQUEST_TYPES, registerRequest } from './request.ts';

/** The type that an expression must return. */
export type Gives = 'bool' | 'string' | 'string or null' | 'anything' | PatchKind;

/** The kinds of patches that expressions make; they alone can use the types of patches. */
export type PatchKind = 'apply configuration' | 'JSON patch';

const WANTED: Readonly<Record<Gives, readonly string[]>> = {
  bool: ['bool'],
  string: ['string'],
  'string or null': ['string', 'null'],
  anything: [],
  'apply configuration': [OBJECT],
  'JSON patch': [`list<${JSON_PATCH}>`],
};

const isPatch = (gives: Gives): gives is PatchKind =>
  gives === 'apply configuration' || gives === 'JSON patch';

const VARIABLES = 'kubernetes.variables';
/** Types with declared fields. */
const OBJECTS: ReadonlySet<string> = new Set([VARIABLES, ...REQUEST_TYPES]);
let base: { readonly environment: Environment; readonly names: ReadonlySet<string> } | undefined;

/** The environment of all policies, made when the first one is compiled. */
function policyBase(): NonNullable<typeof base> {
  if (base !== undefined) return base;
  const environment = registerRequest(createEnvironment());
  for (const name of ['object', 'oldObject', 'namespaceObject']) environment.registerVariable(name, 'dyn');
  base = { environment, names: functionsOf(environment) };
  return base;
}

/** A policy that is written, to a server of the version `minor`. */
export interface NewPolicy extends NewExpressions {
  readonly minor: Minor;
}

/**
 * Compiles the expressions of one policy (Kubernetes: admission/plugin/cel, compile and composition). An expression knows the
 * variables that were compiled before it. An expression whose type cannot be determined is accepted.
 */
export class PolicyCompiler {
  readonly #hasParams: boolean;
  readonly #limit: NewPolicy | undefined;
  readonly #fields: Record<string, string> = {};
  /** Variables of any type. */
  readonly #untyped = new Set<unknown>();
  #environments = new Map<'authorizer' | 'plain' | 'patches', Scope>();

  /** `limit`: of a policy that is written; absent: all functions are known. */
  constructor(hasParams: boolean, limit?: NewPolicy) {
    this.#hasParams = hasParams;
    this.#limit = limit;
  }

  variable(name: string, expression: string): Compiled {
    const compiled = this.compile(expression, 'anything');
    this.#fields[name] = fieldType(compiled.program?.type ?? 'dyn');
    // Policies that are stored may go on.
    if (
      this.#limit !== undefined &&
      (compiled.program === undefined || this.#isUntyped(compiled.program.tree))
    )
      this.#untyped.add(name);
    this.#environments.clear();
    return compiled;
  }

  /** `authorizer`: whether the expression may ask about rights. */
  compile(expression: string, gives: Gives, { authorizer = true } = {}): Compiled {
    const scope = this.#scope(isPatch(gives) ? 'patches' : authorizer ? 'authorizer' : 'plain');
    const { environment, named } = scope;
    const { names } = policyBase();
    try {
      const limit = this.#limit?.stored.has(expression) === true ? undefined : this.#limit;
      if (limit !== undefined) {
        scope.full ??= new FullCheck(environment, OBJECTS);
        scope.full.check(expression, limit.newest);
      }
      const program = compileIn(environment, expression, limit?.newest);
      const problem = this.#wrongType({ ...program, type: named(program.type) }, gives);
      return problem === undefined ? { expression, program } : { expression, program: undefined, problem };
    } catch (error) {
      const problem = named(describeMistakes(error, expression, names));
      const isInternal = error instanceof Mistakes && error.isProgram;
      return { expression, program: undefined, problem, isInternal };
    }
  }

  #wrongType({ type, tree }: Pick<CelProgram, 'type' | 'tree'>, gives: Gives): string | undefined {
    const wanted = WANTED[gives];
    if (wanted.length === 0 || wanted.includes(type)) return undefined;
    if (type === 'dyn' && !this.#isUntyped(tree)) return undefined;
    const { minor = DEFAULT_MINOR } = this.#limit ?? {};
    return `must evaluate to ${typesText(gives)}${minor < 32 && !isPatch(gives) ? '' : ` but got ${typeText(type)}`}`;
  }

  /** An untyped value or a field of one, which is refused where a type is required. Elsewhere `dyn` may mean that the library gave up. */
  #isUntyped({ op, args }: SyntaxNode): boolean {
    if (op === 'id') return UNTYPED.has(args);
    const [operand, name] = Array.isArray(args) ? args : [];
    if (op === 'call') return operand === 'dyn';
    if (op !== '.' && op !== '[]') return false;
    const holder = operand as SyntaxNode;
    return (
      this.#isUntyped(holder) ||
      (holder.op === 'id' && holder.args === 'variables' && this.#untyped.has(name))
    );
  }

  #scope(which: 'authorizer' | 'plain' | 'patches'): Scope {
    const known = this.#environments.get(which) ?? this.#create(which);
    this.#environments.set(which, known);
    return known;
  }

  #create(which: 'authorizer' | 'plain' | 'patches'): Scope {
    const environment = policyBase().environment.clone();
    environment.registerType(VARIABLES, { ctor: PolicyVariables, fields: { ...this.#fields } });
    environment.registerVariable('variables', VARIABLES);
    if (this.#hasParams) environment.registerVariable('params', 'dyn');
    if (which !== 'plain') environment.registerVariable('authorizer', AUTHORIZER);
    if (which !== 'patches') return { environment, named: (text) => text };
    return { environment, named: allowMessages(registerPatches(environment), findPatchType) };
  }
}

/** An environment, and the names of its types in messages. */
interface Scope {
  readonly environment: Environment;
  /** Once an expression that is written has been checked. */
  full?: FullCheck;
  named(text: string): string;
}

/** The type of a variable for other expressions: only types that do not depend on values are kept. */
function fieldType(type: string): string {
  if (/^(bool|string|int|uint|double|bytes|kubernetes\.|net\.|google\.protobuf\.)/.test(type)) return type;
  return 'dyn';
}

const PATCH_TYPES: Readonly<Record<PatchKind, string>> = {
  'apply configuration': OBJECT,
  'JSON patch': `list(${JSON_PATCH})`,
};

function typesText(gives: Gives): string {
  if (isPatch(gives)) return PATCH_TYPES[gives];
  return gives === 'string or null' ? 'one of [string null_type]' : gives;
}

const UNTYPED: ReadonlySet<unknown> = new Set(['object', 'oldObject', 'params']);

/** The input of an expression: CEL values by the names of its variables. */
export type Bindings = Readonly<Record<string, unknown>>;

/** `variables` of a policy: each is evaluated once, on first use. */
export class PolicyVariables extends Map<string, unknown> implements Fields {
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #bindings: () => Bindings;
  /** Cost of the variables since the last call that read it. */
  #cost = 0;

  readonly #budget: number;

  constructor(compiled: ReadonlyMap<string, Compiled>, bindings: () => Bindings, budget: number) {
    super();
    this.#compiled = compiled;
    this.#bindings = bindings;
    this.#budget = budget;
  }

  hasField(name: string): boolean {
    return this.#compiled.has(name);
  }

  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  /** @throws Error that names the variable */
  override get(name: string): unknown {
    const known = super.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(name);
    return compiled === undefined ? undefined : this.#evaluate(name, compiled);
  }

  #evaluate(name: string, compiled: Compiled): unknown {
    if (compiled.program === undefined)
      throw new Error(`composited variable ${JSON.stringify(name)} fails to compile: ${compiled.problem}`);
    if (this.#cost > this.#budget) throw new OutOfBudget();
    try {
      const { result, cost } = compiled.program.run(this.#bindings());
      this.#cost += cost;
      this.set(name, result);
      return result;
    } catch (error) {
      const why = describeFailure(error);
      throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${why}`);
    }
  }
}
