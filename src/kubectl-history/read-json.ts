import { parseExactly, parsePlainly } from '../object/exact-json.ts';

/** Parses an answer of the server. Integers beyond a number's precision keep their digits. */
export const readJson = <T>(text: string): T =>
  (/\d{16}/.test(text) ? parseExactly(text) : parsePlainly(text)) as T;
