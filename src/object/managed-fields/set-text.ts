import { type FieldSet, LEAF } from './field-set.ts';

/**
 * The JSON of sets that many objects share. It is half of a new pod's JSON and the same for all pods with the same fields, so
 * that writing it anew for each takes 17 of the 35 µs in which a pod becomes text. Undefined for a set that is written as
 * quickly as its text is put in.
 */
const texts = new WeakMap<object, string | undefined>();
const MIN_CHARS = 1024;

/** For sets that others will have, too. Of new ones the parts were mostly seen before: pods differ in their metadata alone. */
export function keepText(set: FieldSet): void {
  if (texts.has(set)) return;
  const parts: string[] = [];
  for (const element in set) parts.push(`${JSON.stringify(element)}:${textOfPart(set[element] ?? LEAF)}`);
  keep(set, `{${parts.join(',')}}`);
}

function textOfPart(set: FieldSet): string {
  const known = texts.get(set);
  if (known !== undefined) return known;
  const text = JSON.stringify(set);
  keep(set, text);
  return text;
}

function keep(set: FieldSet, text: string): void {
  texts.set(set, text.length < MIN_CHARS ? undefined : text);
}

/** Undefined when it is not kept. `set`: as an entry of metadata.managedFields has it. */
export const keptTextOf = (set: object): string | undefined => texts.get(set);
