import type { JsonValue } from '../../api/object-meta.ts';
import { toExact } from '../../object/exact-json.ts';
import { resolvePlain } from './go-scalar.ts';

/**
 * The value of a text without quotes in block style; undefined for infinities, which JSON lacks, and for texts that begin like
 * another construct or that a comment or a key may end.
 */
export function plainValue(text: string): JsonValue | undefined {
  // Nearly all are longer names, kinds, paths and images.
  if (text.length > MAX_WORD && NAME.test(text)) return text;
  if (OPENING.test(text) || ENDING.test(text)) return undefined;
  const value = resolvePlain(text);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'bigint' ? toExact(value) : value;
}

const NAME = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;
/** The longest word with a meaning of its own, `false`. */
const MAX_WORD = 5;

/** `-` begins a text only where no space follows. */
const OPENING = /^(?:$|[ #,[\]{}&*!|>'"%@`?:~<=]|-(?: |$)|---|\.\.\.)/;
const ENDING = /: | #|[: ]$/;
