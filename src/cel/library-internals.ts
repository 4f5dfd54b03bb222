import type { Environment } from '@marcbachmann/cel-js';

/**
 * The parts of the library that it does not export: its types are registered one by one and for good, which does not do for
 * schemas that come and go with thousands of types. The version of the library is pinned for this.
 */

export type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown;
export type Handle = (left: unknown, right: unknown, node: unknown, evaluator: unknown) => unknown;

/** The fields of the library's syntax nodes that are used here. */
export interface SyntaxNode {
  readonly op: string;
  readonly args: unknown;
  /** Offset of the node in characters. */
  readonly pos?: number;
  readonly meta: {
    readonly alternate?: SyntaxNode;
    readonly macro?: { readonly evaluate: Evaluate };
    readonly evaluate: Evaluate;
  };
  evaluate: Evaluate;
  handle?: Handle;
}

export interface LibraryType {
  readonly kind: string;
  /** `list<string>` */
  readonly name: string;
  readonly valueType?: LibraryType;
  readonly keyType?: LibraryType;
  /** Null: there is no type for both. */
  unify(registry: LibraryRegistry, other: LibraryType): LibraryType | null;
}

export interface LibraryVariable {
  readonly name: string;
  readonly type: LibraryType;
  readonly constant: boolean;
  readonly value?: unknown;
}

interface TypeEntry {
  readonly name: string;
  readonly type: LibraryType;
  readonly ctor: unknown;
  readonly fields: Readonly<Record<string, LibraryType | undefined>>;
}

interface Candidates {
  declarations: unknown[];
  macro: unknown;
  /** Null: no declaration takes arguments of these types. */
  findFunction(args: readonly LibraryType[], receiver: LibraryType): unknown;
}

export interface LibraryRegistry {
  readonly objectTypes: Map<string, TypeEntry>;
  readonly objectTypesByConstructor: Map<unknown, TypeEntry>;
  readonly variables: ReadonlyMap<string, LibraryVariable>;
  clone(options: unknown): LibraryRegistry;
  getType(name: string): LibraryType;
  getListType(items: LibraryType): LibraryType;
  getMapType(keys: LibraryType, values: LibraryType): LibraryType;
  getOptionalType(of: LibraryType): LibraryType;
  registerType(declaration: {
    name: string;
    ctor: unknown;
    fields: Readonly<Record<string, string>>;
  }): TypeEntry;
  functionCandidates(hasReceiver: boolean, name: string, count: number): Candidates;
  registerOperatorOverload(signature: string, handler: (left: unknown, right: unknown) => unknown): void;
}

interface Options {
  readonly registry: LibraryRegistry;
  readonly opts: unknown;
}

/** Fields that checking a node sets. */
export interface CheckedNode extends SyntaxNode {
  /** The whole expression. */
  readonly input: string;
  checkedType?: LibraryType;
  left?: unknown;
  right?: unknown;
  candidates?: { readonly async: boolean };
}

export interface LibraryChecker {
  readonly registry: LibraryRegistry;
  readonly opts: unknown;
  check(node: CheckedNode, context: unknown): LibraryType;
  getType(name: string): LibraryType;
  createError(code: string, message: string, node: unknown): Error;
}

export interface LibraryEvaluator {
  readonly registry: LibraryRegistry;
}

/** A node while it is parsed. */
export interface ParsedNode extends CheckedNode {
  clone(operation: object, args: unknown): ParsedNode;
  setMeta(key: string, value: unknown): ParsedNode;
}

export interface LibraryParser {
  readonly input: string;
  /** Offset of the current token. */
  readonly pos: number;
  /** The value of the current token. */
  readonly value: unknown;
  match(token: number): boolean;
  consume(token: number): number;
  parseExpression(): ParsedNode;
  parsePrimary(): ParsedNode;
  parseList(): ParsedNode;
  parseMap(): ParsedNode;
}

export interface Internals {
  readonly Parser: { readonly prototype: LibraryParser };
  readonly registry: LibraryRegistry;
  readonly options: unknown;
  readonly Checker: new (options: Options) => LibraryChecker;
  readonly Evaluator: new (options: Options) => LibraryEvaluator;
}

/** Only a probe: removed before any expression is compiled. Clones of an environment keep its probe, so that each has its own name. */
let probes = 0;

const probeOf = (
  onCheck: (checker: LibraryChecker) => void,
  onRun: (evaluator: LibraryEvaluator) => void,
): object => ({
  async: false,
  typeCheck(checker: LibraryChecker): LibraryType {
    onCheck(checker);
    return checker.getType('bool');
  },
  evaluate(evaluator: LibraryEvaluator): boolean {
    onRun(evaluator);
    return true;
  },
});

/** A macro is handed the checker and the evaluator, and with them everything else. */
export function internalsOf(environment: Environment): Internals {
  let checker: LibraryChecker | undefined;
  let evaluator: LibraryEvaluator | undefined;
  let parser: LibraryParser | undefined;
  probes += 1;
  const name = `k8s_probe${probes}`;
  environment.registerFunction(`${name}(ast): bool`, (call: { readonly parser: LibraryParser }) => {
    parser = call.parser;
    return probeOf(
      (one) => {
        checker = one;
      },
      (one) => {
        evaluator = one;
      },
    );
  });
  const probe = environment.parse(`${name}(true)`);
  probe.check();
  probe();
  if (checker === undefined || evaluator === undefined || parser === undefined)
    throw new Error('the CEL library does not show its parts');
  const { registry, opts } = checker;
  const candidates = registry.functionCandidates(false, name, 1);
  candidates.declarations.length = 0;
  candidates.macro = false;
  return {
    registry,
    options: opts,
    Parser: parser.constructor as unknown as Internals['Parser'],
    Checker: checker.constructor as Internals['Checker'],
    Evaluator: evaluator.constructor as Internals['Evaluator'],
  };
}
