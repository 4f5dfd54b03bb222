import { parseJson } from '../exact-json.ts';
import { objectOf } from '../json-values.ts';

/**
 * A set of fields of one object, in the form metadata.managedFields keeps it (FieldsV1): a tree whose keys are path elements,
 * `f:<field>`, `k:{<keys of a list element>}` or `v:<value of a list of scalars>`. A node without children stands for its
 * own path; a node with children stands for its own path only if it has the child `.`.
 *
 *   {"f:metadata":{"f:labels":{".":{},"f:app":{}}}}   is   .metadata.labels   and   .metadata.labels.app
 *
 * The stored JSON is the working form: nothing is converted on a write that does not touch an entry. Sets are never changed
 * after they were built, and share what they can.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const SELF = '.';
/** A node that stands for its own path alone. At the root, the empty set. */
export const LEAF: FieldSet = Object.freeze({});
export const EMPTY: FieldSet = LEAF;

export const fieldElement = (name: string): string => `f:${name}`;
export const valueElement = (value: unknown): string => `v:${JSON.stringify(value)}`;

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

const standsForItself = (node: FieldSet): boolean => node[SELF] !== undefined || isEmpty(node);

type Nodes = Record<string, FieldSet>;

/** Undefined: neither the path itself nor anything below it. */
export function toNode(itself: boolean, children: FieldSet | undefined): FieldSet | undefined {
  if (children === undefined || isEmpty(children)) return itself ? LEAF : undefined;
  return itself ? { [SELF]: LEAF, ...children } : children;
}

/** The elements of the children, without {@link SELF}. */
function elementsIn(node: FieldSet): string[] {
  const elements = Object.keys(node);
  return node[SELF] === undefined ? elements : elements.filter((element) => element !== SELF);
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const out: Nodes = { ...a };
  for (const [element, node] of Object.entries(b)) {
    const other = out[element];
    out[element] = other === undefined || element === SELF ? node : unionNodes(other, node);
  }
  return out;
}

/** Two by two, so that a thousand small sets are not each added to an ever larger one. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? EMPTY;
  const middle = sets.length >> 1;
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)));
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  const merged = union(a, b);
  const itself = standsForItself(a) || standsForItself(b);
  return itself && !standsForItself(merged) ? { [SELF]: LEAF, ...merged } : merged;
}

/** Paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b) && a[SELF] === undefined) return a;
  return combine(a, b, (mine, other) =>
    other === undefined
      ? mine
      : toNode(standsForItself(mine) && !standsForItself(other), difference(mine, other)),
  );
}

/** Paths in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (mine, other) =>
    other === undefined
      ? undefined
      : toNode(standsForItself(mine) && standsForItself(other), intersection(mine, other)),
  );
}

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (mine, other) => {
    if (other === undefined) return mine;
    return standsForItself(other) ? undefined : toNode(standsForItself(mine), without(mine, other));
  });
}

function combine(
  a: FieldSet,
  b: FieldSet,
  pick: (mine: FieldSet, other: FieldSet | undefined) => FieldSet | undefined,
): FieldSet {
  if (isEmpty(a)) return a;
  const out: Nodes = {};
  for (const element of elementsIn(a)) {
    const node = pick(a[element] ?? LEAF, b[element]);
    if (node !== undefined) out[element] = node;
  }
  return out;
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && standsForItself(node);
}

/** Whether every path of `b` is in `a`. Only `b` is walked. */
export function includes(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const [mine, other] = [a[element], b[element]];
    if (element === SELF || other === undefined) continue;
    if (mine === undefined || (standsForItself(other) && !standsForItself(mine))) return false;
    if (!includes(mine, other)) return false;
  }
  return true;
}

/** Whether a path is in both. Only `b` is walked. */
export function overlaps(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) {
    const [mine, other] = [a[element], b[element]];
    if (element === SELF || mine === undefined || other === undefined) continue;
    if ((standsForItself(other) && standsForItself(mine)) || overlaps(mine, other)) return true;
  }
  return false;
}

/** `['spec', 'replicas']` → the set of this path alone. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  return paths.reduce<FieldSet>((set, path) => {
    const one = path.reduceRight<FieldSet>((node, name) => ({ [fieldElement(name)]: node }), LEAF);
    return union(set, one);
  }, EMPTY);
}

/** Every path of the set, as its elements. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  for (const element of elementsIn(set)) {
    const node = set[element] ?? LEAF;
    const path = [...prefix, element];
    if (standsForItself(node)) yield path;
    yield* pathsOf(node, path);
  }
}

/** `.spec.containers[name="web"].image`, as conflicts name fields. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

function formatElement(element: string): string {
  const content = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${content}`;
    case 'k:': {
      const keys = Object.entries(objectOf(parseJson(content)));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v:':
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}

/** The one order in which sets are stored, so that equal sets have equal bytes. A set in that order is returned as it is. */
export function sorted(set: FieldSet): FieldSet {
  if (isSorted(set)) return set;
  const out: Nodes = {};
  for (const element of Object.keys(set).sort()) out[element] = sorted(set[element] ?? LEAF);
  return out;
}

/** Looking costs a fifth of making a set anew, and most sets are made in order. */
function isSorted(set: FieldSet): boolean {
  let last = '';
  for (const element in set) {
    if (last > element || !isSorted(set[element] ?? LEAF)) return false;
    last = element;
  }
  return true;
}

/** Parses a set from a client. Undefined: it is invalid. Rewrites the keys of list elements to the form used here. */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const out: Nodes = {};
  for (const [element, child] of Object.entries(value)) {
    const name = parseElement(element);
    const node = parseFieldSet(child);
    if (name === undefined || node === undefined) return undefined;
    out[name] = node;
  }
  return out;
}

function parseElement(element: string): string | undefined {
  if (element === SELF || element.startsWith('f:')) return element;
  if (element.startsWith('i:')) return /^i:\d+$/.test(element) ? element : undefined;
  const content = parseContent(element.slice(2));
  if (element.startsWith('v:')) return content === undefined ? undefined : valueElement(content);
  if (!element.startsWith('k:') || typeof content !== 'object' || content === null || Array.isArray(content))
    return undefined;
  return keyElement(Object.entries(content));
}

/** `k:{"containerPort":80,"protocol":"TCP"}` */
function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  const ordered = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:{${ordered.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

function parseContent(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const MAX_ITEMS = 32;
const MAX_BYTES = 8 * 1024 * 1024;

/** The total size of all places' caches. */
export class Memory {
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
  }

  clear(): void {
    this.#bytes = 0;
  }
}

/**
 * A small cache, the most used items first. An overflow drops the last one, so that items used once do not displace repeated
 * ones.
 */
export class Recent<T> {
  readonly #memory: Memory;
  readonly items: T[] = [];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** The item moves one place to the front. */
  use(at: number): void {
    const { items } = this;
    const [item, previous] = [items[at], items[at - 1]];
    if (item === undefined || previous === undefined) return;
    items[at - 1] = item;
    items[at] = previous;
  }

  add(item: T, bytes: number): void {
    this.#memory.take(bytes);
    if (this.items.length < MAX_ITEMS) this.items.push(item);
    else this.items[MAX_ITEMS - 1] = item;
  }
}
