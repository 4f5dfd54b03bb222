import { mapCode } from './map-code.ts';

/**
 * How deep an expression may be nested in Kubernetes (cel-go, parser.go: MaxRecursionDepth). It counts twice: while it reads,
 * expressions inside brackets; then, in the tree, operations inside operations. A chain such as `1 + 2 + 3` is as deep as it is
 * long, for each operation is inside the next one; `&&` and `||` are not, because their chains are balanced (chains.ts).
 */
const MOST = 250;

/** Call this before parsing: the parser recurses as deep as brackets nest. Undefined: no problem. */
export function bracketsProblem(expression: string): string | undefined {
  let open = 0;
  let deepest = 0;
  let isEmpty = false;
  const note = (): void => {
    if (isEmpty && open > deepest) deepest = open;
    isEmpty = false;
  };
  mapCode(expression, (code) => {
    // A literal stood in front.
    note();
    for (const [mark] of code.matchAll(MARKS)) {
      if (CLOSING.has(mark)) {
        open -= 1;
        isEmpty = false;
      } else {
        note();
        if (!OPENING.has(mark)) continue;
        open += 1;
        isEmpty = true;
      }
    }
    return code;
  });
  return deepest >= MOST ? `expression recursion limit exceeded: ${MOST}` : undefined;
}

/** Brackets, and what is between them. */
const MARKS = /[()[\]{}]|[^\s()[\]{}]+/g;
const OPENING: ReadonlySet<string> = new Set('([{');
const CLOSING: ReadonlySet<string> = new Set(')]}');

/** Operations that count. Macros are calls of a member. */
const COUNTED: ReadonlySet<string> = new Set([
  ...['?:', '==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'],
  ...['.', '.?', '[]', '[?]', 'rcall'],
]);

export const TOO_DEEP = 'max recursion depth exceeded';

/** Call this before walking the tree, which may be deeper than any stack. Undefined: no problem. */
export function depthProblem(root: unknown): string | undefined {
  const left: [part: unknown, depth: number][] = [[root, 0]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [part, depth] = next;
    if (Array.isArray(part)) {
      for (const one of part) left.push([one, depth]);
      continue;
    }
    if (!isNode(part)) continue;
    const inside = COUNTED.has(part.op) ? depth + 1 : depth;
    if (inside > MOST) return TOO_DEEP;
    left.push([part.args, inside]);
  }
  return undefined;
}

const isNode = (value: unknown): value is { readonly op: string; readonly args: unknown } =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
