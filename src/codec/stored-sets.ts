import type { ApiObject, ManagedFieldsEntry } from '../api/object-meta.ts';
import { parsedTextOf, parseSet, sharedTextOf } from '../object/managed-fields/set-texts.ts';

/**
 * The sets in metadata.managedFields of a stored object: more than half of a pod's JSON, and the same for many objects. They
 * are cut out of the text before it is parsed, and put into it after the rest was written, so that a set that is known is
 * neither parsed nor written anew: a pod of 7.8 kB is parsed in 45 µs instead of 72, and written in 26 instead of 45.
 *
 *   …,"managedFields":[{"manager":"web",…,"fieldsV1":{"f:metadata":…},"subresource":"status"}]},"spec":{…
 *   …,"managedFields":[{"manager":"web",…,"fieldsV1":-0,"subresource":"status"}]},"spec":{…
 */
export interface Cut {
  readonly text: string;
  readonly sets: readonly Set[];
}

type Set = ManagedFieldsEntry['fieldsV1'] & object;

// Quotes within a text have a backslash before them, so that these are found where they are meant; but for a name that was
// made to look like one of them. Then what is cut out is no JSON, or `putSets` does not find its place.
const LIST = '"managedFields":[{';
const LIST_END = '}]},"';
const BETWEEN_ENTRIES = '},{"manager":';
const SET = '"fieldsV1":';
const BEHIND_SET = ',"subresource":';

/** No number is ever written like this. */
const ELSEWHERE = '-0';
const GAP = `${SET}${ELSEWHERE}`;

/** Undefined when there are no sets, or not in the usual form. */
export function cutSets(text: string): Cut | undefined {
  const list = text.indexOf(LIST);
  const end = list < 0 ? -1 : text.indexOf(LIST_END, list);
  if (end < 0) return undefined;
  const sets: Set[] = [];
  let rest = text.slice(0, list + LIST.length);
  for (const entry of text.slice(list + LIST.length, end).split(BETWEEN_ENTRIES)) {
    const from = entry.indexOf(SET) + SET.length;
    const to = entry.endsWith('"') ? entry.lastIndexOf(BEHIND_SET) : entry.length;
    const set = from < SET.length || to < from ? undefined : toSet(entry.slice(from, to));
    if (set === undefined) return undefined;
    rest += `${sets.length === 0 ? '' : BETWEEN_ENTRIES}${entry.slice(0, from)}${ELSEWHERE}${entry.slice(to)}`;
    sets.push(set);
  }
  return { text: rest + text.slice(end), sets };
}

function toSet(text: string): Set | undefined {
  try {
    return parseSet(text) as Set;
  } catch {
    return undefined;
  }
}

/** Into the object that the rest of the text says. False when they do not belong there. */
export function putSets(object: ApiObject, sets: readonly Set[]): boolean {
  const { managedFields } = object.metadata;
  if (!Array.isArray(managedFields) || managedFields.length !== sets.length) return false;
  for (const [at, entry] of managedFields.entries()) {
    const set = sets[at];
    if (set === undefined || !Object.is(entry.fieldsV1, -0)) return false;
    entry.fieldsV1 = set;
  }
  return true;
}

/** The JSON of an object, the texts of the sets that are known put in. */
export function stringify(object: ApiObject): string {
  const texts: string[] = [];
  const entries = object.metadata.managedFields?.map((entry) => {
    const text = textOf(entry.fieldsV1);
    if (text === undefined) return entry;
    texts.push(text);
    return { ...entry, fieldsV1: NOT_HERE };
  });
  if (texts.length === 0) return JSON.stringify(object);
  const pieces = JSON.stringify({
    ...object,
    metadata: { ...object.metadata, managedFields: entries },
  }).split(GAP);
  return pieces.reduce((before, after, at) => `${before}${SET}${texts[at - 1]}${after}`);
}

/** Of sets that were read, and of new ones that many objects share. */
const textOf = (set: Set | undefined): string | undefined =>
  set === undefined ? undefined : (parsedTextOf(set) ?? sharedTextOf(set));

const NOT_HERE = JSON.rawJSON(ELSEWHERE);
