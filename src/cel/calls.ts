/** A call in an expression: `f(a)`, or `x.f(a)` with a receiver. */
export interface Call {
  readonly name: string;
  readonly receiver?: SyntaxTree;
  readonly given: readonly SyntaxTree[];
  /** Offset of its start. */
  readonly start: number;
  /** The whole expression. */
  readonly input: string;
}

export interface SyntaxTree {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly input: string;
}

/** The calls of an expression: each before those in its receiver and its arguments. */
export function* callsIn(root: unknown): Generator<Call> {
  if (Array.isArray(root)) for (const part of root) yield* callsIn(part);
  if (!isNode(root)) return;
  const call = toCall(root);
  if (call !== undefined) yield call;
  yield* callsIn(root.args);
}

function toCall({ op, args, start, input }: SyntaxTree): Call | undefined {
  if (!Array.isArray(args)) return undefined;
  const name = String(args[0]);
  if (op === 'call') return { name, given: nodesIn(args[1]), start, input };
  const [, receiver, given] = args;
  return op === 'rcall' && isNode(receiver)
    ? { name, receiver, given: nodesIn(given), start, input }
    : undefined;
}

const nodesIn = (given: unknown): readonly SyntaxTree[] => (Array.isArray(given) ? given.filter(isNode) : []);

const isNode = (value: unknown): value is SyntaxTree =>
  typeof value === 'object' && value !== null && 'setMeta' in value && 'op' in value;
