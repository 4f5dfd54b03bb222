import type { Environment } from '@marcbachmann/cel-js';
import type { Minor } from '../api/emulation.ts';
import { balanceChains } from './chains.ts';
import { checkerFor } from './declared-checker.ts';
import { describeIssues, INVALID_FORMAT, MIXED_ITEMS } from './issues.ts';
import {
  type CheckedNode,
  type Internals,
  internalsOf,
  type LibraryChecker,
  type LibraryType,
  type LibraryVariable,
} from './library-internals.ts';
import { mistakesOf } from './mistakes.ts';
import { type CelError, parseIn, refuseLong, toCelError } from './program.ts';
import { CheckScope } from './scopes.ts';

/** The code of values that a program cannot be made with. */
const BAD_PROGRAM = 'bad_program';

/**
 * Kubernetes checks types, then written values, and makes the program: each step reports all of its errors, and only then the
 * next one begins.
 */
const STEPS: readonly ((error: CelError) => boolean)[] = [
  (error) => error.code !== BAD_PROGRAM && !isOfValues(error),
  isOfValues,
  () => true,
];

function isOfValues({ code }: CelError): boolean {
  return code === 'bad_literal' || code === INVALID_FORMAT || code === MIXED_ITEMS;
}

/** Why an expression cannot be used: an error of the first step that has any, with all others of it. */
export class Mistakes extends Error {
  readonly errors: readonly CelError[];
  /** The types fit, but no program can be made. */
  readonly isProgram: boolean;

  constructor(errors: readonly CelError[]) {
    super(errors[0]?.message);
    this.errors = errors;
    this.isProgram = errors.every(({ code }) => code === BAD_PROGRAM);
  }
}

/** The type of an expression. @throws Mistakes */
export function checkFully(checker: LibraryChecker, tree: CheckedNode, scope: CheckScope): LibraryType {
  let type: LibraryType | undefined;
  const found = mistakesOf(() => {
    type = checker.check(tree, scope);
  }).map(toCelError);
  for (const isOfStep of STEPS) {
    const errors = found.filter(isOfStep);
    if (errors.length > 0) throw new Mistakes(errors);
  }
  if (type === undefined) throw new Error('the expression has no type');
  return type;
}

/** Why an expression does not compile, in Kubernetes' words. `functions`: the names of those that exist. */
export function describeMistakes(error: unknown, expression: string, functions: ReadonlySet<string>): string {
  if (error instanceof Mistakes && error.isProgram) return `program instantiation failed: ${error.message}`;
  const errors = error instanceof Mistakes ? error.errors : [toCelError(error)];
  return `compilation failed: ${describeIssues(errors, expression, (name) => functions.has(name))}`;
}

/** Kubernetes has no `cel.bind(…)`: the parser takes it for a call, and the checker does not know `cel`. */
export function forgetBind({ registry }: Internals): void {
  const candidates = registry.functionCandidates(true, 'bind', 3);
  candidates.declarations.length = 0;
  candidates.macro = false;
}

/** Names of functions that Kubernetes knows. */
export const functionsOf = (environment: Environment): ReadonlySet<string> =>
  new Set(
    environment
      .getDefinitions()
      .functions.map(({ name }) => name)
      .filter((name) => !UNKNOWN.has(name)),
  );

/** Macros, which are no functions to Kubernetes where their arguments do not fit, and functions of the library alone. */
const UNKNOWN: ReadonlySet<string> = new Set(
  [
    'all exists exists_one existsOne map filter transformList transformMap transformMapEntry sortBy',
    'optMap optFlatMap bind json hex base64 at',
  ]
    .join(' ')
    .split(' '),
);

/** Looks a name up among variables; `cel` is none. */
export const lookupIn =
  (variables: ReadonlyMap<string, LibraryVariable>) =>
  (name: string): LibraryVariable | undefined =>
    name === 'cel' ? undefined : variables.get(name);

/** cel-go's limit. */
const MAX_CODE_POINTS = 100_000;

/** Checks expressions of one environment as strictly as Kubernetes does. The library itself lets more pass. */
export class FullCheck {
  readonly #environment: Environment;
  readonly #checker: LibraryChecker;
  readonly #scope: CheckScope;

  /** `objects`: types with declared fields. */
  constructor(environment: Environment, objects: ReadonlySet<string>) {
    this.#environment = environment.clone();
    const internals = internalsOf(this.#environment);
    forgetBind(internals);
    const { registry, options } = internals;
    this.#checker = new (checkerFor(internals))({ registry, opts: options }, objects);
    this.#scope = new CheckScope(lookupIn(registry.variables));
  }

  /** @throws Mistakes, and CelError when the expression cannot be parsed */
  check(expression: string, newest: Minor): void {
    refuseLong(expression, MAX_CODE_POINTS);
    const tree = parseIn(this.#environment, expression, newest).ast as unknown as CheckedNode;
    balanceChains(tree);
    checkFully(this.#checker, tree, this.#scope);
  }
}
