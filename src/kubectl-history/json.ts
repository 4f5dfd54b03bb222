import { parseExactly, parsePlainly } from '../object/exact-json.ts';

/** An answer of the server as what it is asked for. Integers that a number does not hold keep their digits. */
export const readJson = <T>(text: string): T =>
  (/\d{16}/.test(text) ? parseExactly(text) : parsePlainly(text)) as T;
