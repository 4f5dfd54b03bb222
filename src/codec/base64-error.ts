const PADDING = '=';
const DIGIT = /[A-Za-z0-9+/]/;
const MORE = /[^\r\n]/;

/**
 * Where Go finds that a text is no base64 (encoding/base64, decodeQuantum): at the first character that cannot stand there,
 * or where the last four began that are not complete. Line breaks are passed over. Undefined for text that is base64.
 */
export function base64Error(text: string): number | undefined {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '\n' || char === '\r') continue;
    if (char === PADDING) return paddingError(text, at, digits);
    if (!DIGIT.test(char)) return at;
    digits = (digits + 1) % 4;
  }
  return digits === 0 ? undefined : text.length - digits;
}

/** From the first sign of padding on, after so many digits of the last four. */
function paddingError(text: string, first: number, digits: number): number | undefined {
  if (digits < 2) return first;
  const rest = /^=[\r\n]*(=?)[\r\n]*/.exec(text.slice(first));
  const hasTwo = rest?.[1] === PADDING;
  if (digits === 2 && !hasTwo) {
    const next = text.slice(first + 1).search(MORE);
    return next < 0 ? text.length : first + next;
  }
  const end = first + (digits === 2 ? (rest?.[0].length ?? 1) : 1);
  const after = text.slice(end).search(MORE);
  return after < 0 ? undefined : end + after;
}
