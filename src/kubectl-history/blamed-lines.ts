import type { JsonValue } from '../api/object-meta.ts';
import { toYamlKey, toYamlText } from '../codec/yaml/scalar.ts';
import type { BlamedField } from './history-types.ts';
import { parsePath, type Segment } from './path-segments.ts';

/** A line of YAML with its field; lines such as `spec:` have none. */
export interface BlamedLine {
  readonly text: string;
  readonly field: BlamedField | undefined;
}

/** Fields by name, elements of a list, or a field without parts. */
type Node =
  | { readonly kind: 'leaf'; readonly field: BlamedField }
  | { readonly kind: 'fields' | 'elements'; readonly parts: Map<string, Node> };

export function toBlamedLines(fields: readonly BlamedField[]): readonly BlamedLine[] {
  const root: Node = { kind: 'fields', parts: new Map() };
  const apart: BlamedField[] = [];
  for (const field of fields) {
    const segments = parsePath(field.path ?? '');
    if (segments === undefined || segments.length === 0 || !place(root, segments, field)) apart.push(field);
  }
  return [...linesOf(root, 0), ...apart.map((field) => lineApart(field))];
}

/** A field outside the tree is shown by its path. */
const lineApart = (field: BlamedField): BlamedLine => ({
  text: `${field.path ?? ''}: ${scalarOf(field, 2).split('\n').join(' ')}`,
  field,
});

function place(root: Node, segments: readonly Segment[], field: BlamedField): boolean {
  let node: Node = root;
  for (const [at, segment] of segments.entries()) {
    if (node.kind === 'leaf' || (node.kind === 'fields') !== (segment.kind === 'field')) return false;
    const key = segment.kind === 'field' ? segment.name : segment.key;
    const following = segments[at + 1];
    let part: Node | undefined = node.parts.get(key);
    if (part === undefined) {
      part =
        following === undefined
          ? { kind: 'leaf', field }
          : { kind: following.kind === 'field' ? 'fields' : 'elements', parts: new Map() };
      node.parts.set(key, part);
    } else if (following === undefined) return false;
    node = part;
  }
  return true;
}

function linesOf(node: Node, indent: number): BlamedLine[] {
  const pad = ' '.repeat(indent);
  if (node.kind === 'leaf') return leafLines(`${pad}`, node.field, indent);
  if (node.kind === 'elements') return [...node.parts.values()].flatMap((part) => elementLines(part, indent));
  return [...node.parts].flatMap(([name, part]) => {
    const key = toYamlKey(name) ?? JSON.stringify(name);
    if (part.kind === 'leaf') return leafLines(`${pad}${key}: `, part.field, indent + 2);
    const inner = part.kind === 'elements' ? indent : indent + 2;
    return [{ text: `${pad}${key}:`, field: undefined }, ...linesOf(part, inner)];
  });
}

function elementLines(part: Node, indent: number): BlamedLine[] {
  const [first, ...others] = linesOf(part, indent + 2);
  if (first === undefined) return [];
  return [{ ...first, text: `${' '.repeat(indent)}- ${first.text.slice(indent + 2)}` }, ...others];
}

function leafLines(before: string, field: BlamedField, indent: number): BlamedLine[] {
  return `${before}${scalarOf(field, indent)}`.split('\n').map((text) => ({ text, field }));
}

const scalarOf = ({ value, hidden }: BlamedField, indent: number): string =>
  hidden === true || value === undefined ? '(not shown)' : toScalar(value, indent);

/** Lists of plain values, and empty values, on one line. */
function toScalar(value: JsonValue, indent: number): string {
  if (typeof value === 'string') return toYamlText(value, { indent, column: Number.NEGATIVE_INFINITY });
  return JSON.stringify(value);
}
