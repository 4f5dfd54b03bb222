/** The types that the library gives to macros and does not export. */

export interface TypeName {
  readonly kind: string;
  readonly name: string;
  readonly valueType?: TypeName;
  readonly keyType?: TypeName;
}

export interface Context {
  forkWithVariable(name: string, type: TypeName): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, evaluator: Evaluator): Context;
}

export interface TypeChecker {
  check(node: unknown, context: Context): TypeName;
  getType(name: string): TypeName;
  readonly registry: {
    getOptionalType(of: TypeName): TypeName;
    getListType(items: TypeName): TypeName;
    getMapType(keys: TypeName, values: TypeName): TypeName;
  };
  createError(code: string, message: string, node: unknown): Error;
}

export interface Evaluator {
  run(node: unknown, context: unknown): unknown;
}

export interface Node {
  readonly op: string;
  readonly args: unknown;
}

/** A call of a macro as it was written. */
export interface MacroCall {
  readonly ast?: Node;
  readonly args: readonly Node[];
  readonly receiver?: Node;
}

/** The name of a macro's variable. @throws Error when it is no name */
export function iterationName(node: Node | undefined, macro: string): string {
  if (node?.op === 'id' && typeof node.args === 'string') return node.args;
  throw new Error(`${macro}() variable name must be a simple identifier`);
}
