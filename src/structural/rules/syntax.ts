import type { SyntaxNode } from '../../cel/library-internals.ts';

/** Walks over checked expressions. */

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'setMeta' in value && 'op' in value;

/** Whether a node or one below it, as written, matches. */
export function someNode(root: unknown, matches: (node: SyntaxNode) => boolean): boolean {
  if (Array.isArray(root)) return root.some((part) => someNode(part, matches));
  return isNode(root) && (matches(root) || someNode(root.args, matches));
}
