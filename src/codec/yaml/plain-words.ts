/**
 * Whether a reader of YAML would take a text for something else if it were not quoted: a number, a date, a boolean, null.
 * These are the rules of YAML 1.1 as Kubernetes has them (sigs.k8s.io/yaml), and some that other readers have.
 */
export function readsAsOther(text: string): boolean {
  const first = text.charCodeAt(0);
  if (text.length <= MAX_WORD && WORDS.has(text)) return true;
  if (!(first >= 0x30 && first <= 0x39) && first !== PLUS && first !== MINUS && first !== DOT) return false;
  return NUMBER.test(text) || BASED_INTEGER.test(text) || BASE_60.test(text) || isTimestamp(text);
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;

const inAllCases = (...words: string[]): string[] =>
  words.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()]);

const WORDS: ReadonlySet<string> = new Set([
  '',
  '~',
  '<<',
  ...inAllCases('y', 'yes', 'true', 'on', 'n', 'no', 'false', 'off', 'null'),
  ...['.nan', '.NaN', '.NAN'],
  ...['', '+', '-'].flatMap((sign) => ['.inf', '.Inf', '.INF'].map((word) => sign + word)),
]);
const MAX_WORD = 5;

/** Integers and floating point numbers; digits may be set off by underscores. */
const NUMBER = /^[-+]?(\._*[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)(_*[eE][-+]?[0-9_]+)?$/;
const BASED_INTEGER = /^[-+]?0(b[01_]+|o[0-7_]+|x[0-9a-f_]+)$/i;
/** Hours, minutes and seconds, which YAML 1.1 takes for a number. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const DATE = /^\d{4}-(\d\d?)-(\d\d?)(?:[Tt ].*)?$/;
const TIMESTAMP =
  /^\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| +\d\d?:\d\d?:\d\d?(?:[.,]\d+)?)?$/;

function isTimestamp(text: string): boolean {
  const date = DATE.exec(text);
  if (date === null || !TIMESTAMP.test(text)) return false;
  const [month, day] = [Number(date[1]), Number(date[2])];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
