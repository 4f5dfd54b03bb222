/**
 * Long chains of `&&` and `||` become balanced trees, as in cel-go: the library parses `a && b && c` as a list that grows to the
 * left, and checking, running and walking it takes a stack as deep as the chain is long.
 */
export function balanceChains(root: unknown): void {
  if (Array.isArray(root)) {
    for (const part of root) balanceChains(part);
    return;
  }
  if (!isNode(root)) return;
  if (root.op !== '&&' && root.op !== '||') {
    balanceChains(root.args);
    return;
  }
  const { operators, terms } = chainOf(root);
  for (const term of terms) balanceChains(term);
  if (operators.length < LONG) return;
  const spare = operators.slice(1);
  // The outermost node stays so: what holds it holds the whole chain.
  build(root, terms, () => spare.pop() ?? root);
}

/** Shorter chains are as deep as other expressions. */
const LONG = 8;

interface Operation {
  readonly op: string;
  args: unknown;
}

const isNode = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value && 'meta' in value;

function chainOf(root: Operation): { operators: Operation[]; terms: unknown[] } {
  const operators: Operation[] = [];
  const terms: unknown[] = [];
  let at: unknown = root;
  while (isNode(at) && at.op === root.op && Array.isArray(at.args)) {
    operators.push(at);
    terms.push(at.args[1]);
    at = at.args[0];
  }
  terms.push(at);
  return { operators, terms: terms.reverse() };
}

function build(node: Operation, terms: readonly unknown[], next: () => Operation): void {
  const middle = Math.ceil(terms.length / 2);
  node.args = [terms.slice(0, middle), terms.slice(middle)].map((half) => {
    if (half.length === 1) return half[0];
    const inner = next();
    build(inner, half, next);
    return inner;
  });
}
