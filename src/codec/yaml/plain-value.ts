/**
 * The value of a text without quotes in block style, by the rules of YAML 1.1; undefined where these are involved: other forms of
 * booleans and numbers, dates, texts that begin like another construct, and texts that a comment or a key may end.
 */
export function plainValue(text: string): string | number | boolean | null | undefined {
  if (NAME.test(text)) return text.length <= MAX_WORD ? word(text) : text;
  if (INTEGER.test(text) || FRACTION.test(text)) return Number(text);
  if (OPENING.test(text) || ENDING.test(text) || NUMBER.test(text) || DATE.test(text)) return undefined;
  return text.length <= MAX_WORD ? word(text) : text;
}

/** Nearly all: names, kinds, paths, images. */
const NAME = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;
/** No more digits than a number can hold. */
const INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;
const FRACTION = /^-?(?:0|[1-9][0-9]{0,9})\.[0-9]{1,5}$/;

/** `-` begins a text only where no space follows. */
const OPENING = /^(?:$|[ #,[\]{}&*!|>'"%@`?:~<=]|-(?: |$)|---|\.\.\.)/;
const ENDING = /: | #|[: ]$/;
/** All that may be a number, and some more. `.` and `-._` have no digit. */
const NUMBER =
  /^(?![-+]?[._]*$)[-+]?(?:(?:[0-9][0-9_]*(?::[0-5]?[0-9])*)?(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|0[bx][0-9a-fA-F_]+|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$/;
const DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]/;

const MAX_WORD = 5;
const MAYBE_WORDS: ReadonlySet<string> = new Set([
  ...['y', 'yes', 'true', 'on', 'n', 'no', 'false', 'off', 'null'],
]);

function word(text: string): string | boolean | null | undefined {
  switch (text) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return MAYBE_WORDS.has(text.toLowerCase()) ? undefined : text;
  }
}
