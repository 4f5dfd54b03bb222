import type { GroupResource } from '../api/names.ts';

/** The identity of a stored object. `namespace` is '' for cluster-scoped objects. */
export interface ObjectKey extends GroupResource {
  readonly namespace: string;
  readonly name: string;
}

/** What a list or watch covers within one resource: everything, one namespace, or one object. */
export interface Scope {
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Position of an object within its resource: `namespace NUL name`, with the characters above U+D7FF moved.
 *
 * The order of these strings in JavaScript is the order of (namespace, name) under PostgreSQL's collation "C", which SQL lists use:
 * NUL sorts before every character of a name, and characters sort by code point. JavaScript compares UTF-16 code units, which would
 * sort U+1F600 (surrogates D83D DE00) before U+FF21; positions move surrogates last. Only names of roles and of custom resources
 * that are path segments may hold such characters, so all others pay for one test alone.
 */
export function toPosition({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  const position = `${namespace}\0${name}`;
  return HIGH.test(position) ? position.replace(HIGHS, raise) : position;
}

export function parsePosition(position: string): { namespace: string; name: string } {
  const text = HIGH.test(position) ? position.replace(HIGHS, lower) : position;
  const at = text.indexOf('\0');
  return { namespace: text.slice(0, at), name: text.slice(at + 1) };
}

/** Sorts after every position and, behind that of a namespace, after all of its names: no character begins with it there. */
export const LAST_POSITION = '\uffff';

const HIGH = /[\ud800-\uffff]/;
const HIGHS = /[\ud800-\uffff]/g;
/** The first 0x800 of the 0x2800 code units from here on are surrogates; positions move them last. */
const FIRST_HIGH = 0xd800;
const SURROGATES = 0x800;
const OTHERS = 0x2000;

/**
 *     raise('\ud83d') → '\uf83d'
 *     raise('\uff21') → '\uf721'
 */
function raise(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < FIRST_HIGH + SURROGATES ? code + OTHERS : code - SURROGATES);
}

function lower(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < FIRST_HIGH + OTHERS ? code + SURROGATES : code - OTHERS);
}

/** Bounds of the positions a scope covers; a name without a namespace is no range and is filtered. */
export function rangeOf({ namespace, name }: Scope): { low: string; high: string } {
  if (namespace === undefined) return { low: '', high: LAST_POSITION };
  const low = toPosition({ namespace, name: name ?? '' });
  return { low, high: name === undefined ? `${low}${LAST_POSITION}` : `${low}\0` };
}
