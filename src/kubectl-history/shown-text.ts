/**
 * Makes untrusted text safe for a terminal. All writers of the cluster choose names, values and messages: escape sequences,
 * line breaks and changes of direction in them must not take effect.
 */

/** Control characters, changes of direction, zero-width characters, line separators and surrogates. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matched on purpose
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

const hex = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
};

/** One line that is safe for a terminal. */
export const toShown = (text: string): string =>
  text.replaceAll(UNSAFE, (character) => NAMED.get(character) ?? hex(character));

/** Several lines, each safe for a terminal. */
export const toShownLines = (text: string): string => text.split('\n').map(toShown).join('\n');

/** Equivalent JSON that is safe for a terminal. */
export const toShownJson = (json: string): string =>
  json.replaceAll(UNSAFE, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  );

const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

function widthOfCharacter(character: string): number {
  if (character < '\u0300') return 1;
  if (/^\p{Mark}$/u.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The columns of a text without colours. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The beginning of a text that is too wide, with a mark for the rest. */
export function cutEnd(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** The end of a text that is too wide, where the end is more important: `system:serviceaccount:kube-system:job-controller`. */
export function cutStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const characters = [...text];
  let used = 1;
  let at = characters.length;
  while (at > 0 && used + widthOfCharacter(characters[at - 1] ?? '') <= width) {
    at -= 1;
    used += widthOfCharacter(characters[at] ?? '');
  }
  return `…${characters.slice(at).join('')}`;
}
