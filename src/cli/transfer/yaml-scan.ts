import { parseYamlFile } from '../../codec/yaml-text.ts';
import { isObject } from '../../object/json-values.ts';
import { isList } from './documents.ts';
import { allBut, byteSet, type FileBytes } from './file-bytes.ts';

/** An item of a List that was cut. Types that were not found are undefined. */
export interface Item {
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  readonly from: number;
  readonly to: number;
  /** How many lines of YAML come before it in the document; undefined in JSON. */
  readonly line: number | undefined;
}

/** A part of a file, and the column of its keys. */
interface Place {
  readonly from: number;
  readonly to: number;
  readonly column?: number;
}

const NO_INDENT = allBut(byteSet(' '));
const NO_DASHES = allBut(byteSet(' -'));
const TAB = 0x09;
const RETURN = 0x0d;
const LINE_END = 0x0a;
const HASH = 0x23;
const DASH = 0x2d;

const PLAIN = /^[ \t]+(["']?)([A-Za-z0-9./-]+)\1[ \t\r]*(?:#.*)?$/;
const LONGEST = 256;

/** The value of a key in its line; undefined: it is absent, or no plain word. `key`: with its colon. */
export function lineValue(bytes: FileBytes, key: string, place: Place): string | undefined {
  const at = keyAt(bytes, key, place);
  if (at < 0) return undefined;
  const from = at + key.length;
  const end = bytes.lineAfter(from, Math.min(place.to, from + LONGEST));
  return PLAIN.exec(bytes.text(from, end).trimEnd())?.[2];
}

/** Where the first key of this name in this column is; -1: nowhere. */
function keyAt(bytes: FileBytes, key: string, { from, to, column = 0 }: Place): number {
  const wanted = Buffer.from(key);
  for (let at = from; ; at += 1) {
    at = bytes.find(wanted, at, to);
    if (at < 0) return -1;
    const line = at - column;
    if (line === from || (line > from && bytes.at(line - 1) === LINE_END))
      if (indentOf(bytes, line, at) === column) return at;
  }
}

/** How many spaces and dashes the line begins with. */
function indentOf(bytes: FileBytes, line: number, to: number): number {
  return bytes.seek(NO_DASHES, line, to) - line;
}

const ITEMS = 'items:';
const NO_VALUE = /^[ \t\r\n]*(?:#.*)?$/s;
/** Empty lines at the begin of a document. */
const EMPTY_LINES = /^(?:[ \t\r]*\n)+/;
/** What a map in block style begins with. */
const BLOCK_STYLE = /^(?:[ \t\r]*(?:#.*)?\n)*[A-Za-z]/;

/**
 * Cuts a List in block style. A line with the indent of the items, or less, is never inside of an item: texts and
 * everything else in an item are indented more, and YAML ends them at such a line. Undefined where that is not certain.
 */
export function cutYamlList(bytes: FileBytes, { from, to }: Place): readonly Item[] | undefined {
  const key = keyAt(bytes, ITEMS, { from, to });
  if (key < 0) return undefined;
  const begin = bytes.lineAfter(key, to);
  if (begin - key > LONGEST || !NO_VALUE.test(bytes.text(key + ITEMS.length, begin))) return undefined;
  const found = findItems(bytes, begin, to);
  if (found === undefined) return undefined;
  const { starts, end } = found;
  const head = bytes.text(from, begin);
  if (!isFrame(head + bytes.text(end, to))) return undefined;
  const linesBefore = head.replace(EMPTY_LINES, '').split('\n').length - 1;
  return starts.map(({ at, line }, index) => {
    const place = { from: at, to: starts[index + 1]?.at ?? end };
    const typed = { ...place, column: indentOf(bytes, at, place.to) };
    const kind = lineValue(bytes, 'kind:', typed);
    const apiVersion = lineValue(bytes, 'apiVersion:', typed);
    return { ...place, apiVersion, kind, line: linesBefore + line };
  });
}

/** Whether a text is a List without its items. */
function isFrame(text: string): boolean {
  try {
    const value = parseYamlFile(text);
    return BLOCK_STYLE.test(text) && isObject(value) && isList(value.kind) && value.items === null;
  } catch {
    return false;
  }
}

interface FoundItems {
  readonly starts: readonly { readonly at: number; readonly line: number }[];
  /** Where the next key of the List begins. */
  readonly end: number;
}

/** Undefined: a line between them has an indent that no item and no key has. */
function findItems(bytes: FileBytes, from: number, to: number): FoundItems | undefined {
  const starts: { at: number; line: number }[] = [];
  let column = -1;
  let line = 0;
  for (let at = from, next = from; at < to; at = next, line += 1) {
    next = bytes.lineAfter(at, to);
    const first = bytes.seek(NO_INDENT, at, next);
    const code = bytes.at(first);
    if (first >= next || code === LINE_END || code === RETURN || code === HASH) continue;
    if (column >= 0 && first - at > column) continue;
    if (isDash(bytes, first) && (column < 0 || first - at === column)) {
      column = first - at;
      starts.push({ at, line });
    } else return first === at && code !== TAB && starts.length > 0 ? { starts, end: at } : undefined;
  }
  return starts.length > 0 ? { starts, end: to } : undefined;
}

const isDash = (bytes: FileBytes, at: number): boolean =>
  bytes.at(at) === DASH && BEHIND_DASH.has(bytes.at(at + 1));
const BEHIND_DASH: ReadonlySet<number> = new Set(Buffer.from(' \r\n'));
