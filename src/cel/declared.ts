import type { Environment } from '@marcbachmann/cel-js';
import type { Minor } from '../api/emulation.ts';
import { OutOfBudget, spent, withBudget } from './budget.ts';
import { balanceChains } from './chains.ts';
import { checkerFor } from './declared-checker.ts';
import { createEnvironment } from './environment.ts';
import { checkFully, describeMistakes, forgetBind, functionsOf, lookupIn } from './full-check.ts';
import { instrument } from './instrument.ts';
import {
  type CheckedNode,
  type Internals,
  internalsOf,
  type LibraryChecker,
  type LibraryEvaluator,
  type LibraryRegistry,
  type LibraryType,
  type LibraryVariable,
} from './library-internals.ts';
import { typeNumber } from './numbered-types.ts';
import type { ObjectType, ValueType } from './objects.ts';
import { CelError, isTooDeep, parseIn, refuseLong, toCelError } from './program.ts';
import { CheckScope, RunScope } from './scopes.ts';

/** The result of a run; its cost counts either way. */
type Outcome =
  | { readonly cost: number; readonly result: unknown; readonly error?: undefined }
  | { readonly cost: number; readonly error: CelError | OutOfBudget };

export interface DeclaredProgram {
  /** The type of the result as the library names it. */
  readonly type: string;
  /** The checked expression. */
  readonly tree: CheckedNode;
  run(values: Readonly<Record<string, unknown>>, limit: number): Outcome;
}

interface Base {
  readonly environment: Environment;
  readonly internals: Internals;
  readonly functions: ReadonlySet<string>;
}

let base: Base | undefined;

function openBase(): Base {
  if (base !== undefined) return base;
  const environment = createEnvironment();
  const internals = internalsOf(environment);
  forgetBind(internals);
  base = { environment, internals, functions: functionsOf(environment) };
  return base;
}

/** Compiles expressions over the types of one schema. Each type is made when an expression first comes to it. */
export class DeclaredTypes {
  readonly #base = openBase();
  readonly #registry: LibraryRegistry;
  readonly #checker: LibraryChecker;
  readonly #evaluator: LibraryEvaluator;
  readonly #objects = new Map<ObjectType, LibraryType>();
  readonly #byName = new Set<string>();

  constructor() {
    const { registry, options, Evaluator } = this.#base.internals;
    this.#registry = registry.clone(options);
    const parts = { registry: this.#registry, opts: options };
    this.#checker = new (checkerFor(this.#base.internals))(parts, this.#byName);
    this.#evaluator = new Evaluator(parts);
  }

  /**
   * `newest`: the newest version of Kubernetes whose functions the expression may use; absent: all.
   * @throws CelError whose message is the text of Kubernetes: `compilation failed: ` and the place
   */
  compile(
    expression: string,
    variables: Readonly<Record<string, ValueType>>,
    newest?: Minor,
  ): DeclaredProgram {
    try {
      refuseLong(expression, MAX_CODE_POINTS);
      const tree = parseIn(this.#base.environment, expression, newest).ast as unknown as CheckedNode;
      balanceChains(tree);
      const type = checkFully(this.#checker, tree, new CheckScope(this.#lookup(variables)));
      instrument(tree);
      return { type: type.name, tree, run: (values, limit) => this.#run(tree, values, limit) };
    } catch (error) {
      throw new CelError(describeMistakes(error, expression, this.#base.functions), { cause: error });
    }
  }

  #lookup(variables: Readonly<Record<string, ValueType>>): (name: string) => LibraryVariable | undefined {
    const known = new Map<string, LibraryVariable>();
    for (const [name, type] of Object.entries(variables))
      known.set(name, { name, type: this.#typeOf(type), constant: false });
    const others = lookupIn(this.#registry.variables);
    return (name) => known.get(name) ?? others(name);
  }

  #typeOf(type: ValueType): LibraryType {
    switch (type.kind) {
      case 'simple':
        return this.#registry.getType(type.name);
      case 'list':
        return this.#registry.getListType(this.#typeOf(type.items));
      case 'map':
        return this.#registry.getMapType(this.#registry.getType('string'), this.#typeOf(type.values));
      case 'optional':
        return this.#registry.getOptionalType(this.#typeOf(type.of));
      case 'object':
        return this.#objects.get(type) ?? this.#declare(type);
    }
  }

  #declare(object: ObjectType): LibraryType {
    const type = typeNumber(this.#objects.size);
    this.#objects.set(object, type);
    this.#byName.add(type.name);
    const fields = new Proxy<Record<string, LibraryType | undefined>>(
      {},
      {
        get: (_, name) => {
          const field = typeof name === 'string' ? object.fieldType(name) : undefined;
          return field === undefined ? undefined : this.#typeOf(field);
        },
      },
    );
    const entry = { name: type.name, type, ctor: object, fields };
    this.#registry.objectTypes.set(type.name, entry);
    this.#registry.objectTypesByConstructor.set(object, entry);
    return type;
  }

  #run(tree: CheckedNode, values: Readonly<Record<string, unknown>>, limit: number): Outcome {
    let cost = 0;
    try {
      const result = withBudget(limit, (): unknown => {
        try {
          return tree.evaluate(this.#evaluator, tree, new RunScope(values));
        } finally {
          cost = spent(limit);
        }
      });
      return { result: result.result, cost: result.cost };
    } catch (error) {
      if (error instanceof OutOfBudget) return { cost: limit, error };
      return { cost, error: toRunError(error) };
    }
  }
}

/** Half of cel-go's limit, which no real expression reaches; parsing and checking these takes less than a tenth of a second. */
const MAX_CODE_POINTS = 50_000;

/** An operand of another type than the checked one, which `dyn` and null allow, is met by JavaScript's own error. */
const toRunError = (error: unknown): CelError =>
  error instanceof TypeError || (error instanceof RangeError && !isTooDeep(error))
    ? new CelError('no such overload', { cause: error })
    : toCelError(error);
