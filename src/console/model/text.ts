/**
 * Names and values may contain anything. Invisible characters, and those that change the text direction, could disguise text,
 * so they are shown by their code.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

type Piece = { readonly kind: 'text' | 'unseen'; readonly text: string };

const NAMES: Readonly<Record<string, string>> = { '\n': '↵', '\t': '⇥', '\r': '␍', '\u0000': '␀' };

/** `a\u202eb` is the text a, the unseen U+202E, and the text b. */
export function piecesOf(text: string): readonly Piece[] {
  if (!UNSEEN.test(text)) return [{ kind: 'text', text }];
  const pieces: Piece[] = [];
  let plain = '';
  for (const char of text) {
    if (!UNSEEN.test(char)) {
      plain += char;
      continue;
    }
    if (plain !== '') pieces.push({ kind: 'text', text: plain });
    plain = '';
    pieces.push({ kind: 'unseen', text: NAMES[char] ?? codeOf(char) });
  }
  if (plain !== '') pieces.push({ kind: 'text', text: plain });
  return pieces;
}

const codeOf = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/** A value on one line: strings as they are, others as JSON. */
export function inOneLine(value: unknown, limit = 200): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return shortened(text, limit);
}

/** Never cuts a surrogate pair. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/** `1 change`, `2 changes`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

const SHORTEST_START = 12;

/** Two texts without their common beginning, up to a separator: `…web:1.4.2` and `…web:1.4.3` of two images of one registry. */
export function withoutSharedStart(before: string, after: string): readonly [string, string] {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const start = Math.max(...['/', ' ', ','].map((mark) => after.slice(0, same).lastIndexOf(mark) + 1));
  if (start < SHORTEST_START) return [before, after];
  return [`…${before.slice(start)}`, `…${after.slice(start)}`];
}
