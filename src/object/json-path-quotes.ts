const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

/** Digits that follow the letter of an escape. */
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * A text in double or single quotes, with Go's escapes (strconv.UnquoteChar). Undefined: it has a mistake.
 *
 *   unquoted(`'a\u0062'`)   → 'ab'
 */
export function unquoted(quoted: string): string | undefined {
  const quote = quoted.charAt(0);
  if (quoted.length < 2 || !quoted.endsWith(quote) || (quote !== '"' && quote !== "'")) return undefined;
  const text = quoted.slice(1, -1);
  if (!text.includes('\\') && !text.includes(quote)) return text;
  let out = '';
  for (let at = 0; at < text.length; ) {
    const letter = text.charAt(at);
    if (letter === quote || letter === '\n') return undefined;
    const read = letter === '\\' ? readEscape(text, at + 1, quote) : { value: letter, length: 0 };
    if (read === undefined) return undefined;
    out += read.value;
    at += 1 + read.length;
  }
  return out;
}

/** `at`: after the backslash. `length`: of the escape after it. */
function readEscape(text: string, at: number, quote: string): { value: string; length: number } | undefined {
  const letter = text.charAt(at);
  if (letter === quote) return { value: quote, length: 1 };
  const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
  if (plain !== undefined) return { value: plain, length: 1 };
  const digits = Object.hasOwn(HEX_DIGITS, letter) ? (HEX_DIGITS[letter] ?? 0) : 0;
  if (digits > 0) {
    const hex = text.slice(at + 1, at + 1 + digits);
    return hex.length === digits && /^[\da-f]+$/i.test(hex)
      ? toCharacter(Number.parseInt(hex, 16), digits + 1)
      : undefined;
  }
  const octal = text.slice(at, at + 3);
  return /^[0-7]{3}$/.test(octal) && Number.parseInt(octal, 8) < 256
    ? toCharacter(Number.parseInt(octal, 8), 3)
    : undefined;
}

const LAST_CODE_POINT = 0x10ffff;
const isSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xe000;

const toCharacter = (code: number, length: number): { value: string; length: number } | undefined =>
  code > LAST_CODE_POINT || isSurrogate(code) ? undefined : { value: String.fromCodePoint(code), length };
