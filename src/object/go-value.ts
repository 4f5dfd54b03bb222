/**
 * Values in messages as Go writes them, which clients and their tests compare word by word (apimachinery,
 * util/validation/field: texts with %q, numbers and booleans with %v, everything else with %#v).
 */

/** A text that is a value already in Go's notation. */
export class GoText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const shown = (text: string): GoText => new GoText(text);

/** Lists are taken for lists of strings; objects have types that nobody knows here, and are written as JSON. */
export function goValue(value: unknown): string {
  if (value instanceof GoText) return value.text;
  if (value === undefined || value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return goQuote(value);
    case 'number':
      return goNumber(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return isStrings(value) ? goList('string', value) : JSON.stringify(value);
  }
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** `[]core.IPFamily{"IPv4", "IPv6"}` */
export function goList(type: string, values: unknown): string {
  return Array.isArray(values) ? `[]${type}{${values.map(goValue).join(', ')}}` : `[]${type}(nil)`;
}

/** `map[string]string{"a":"b"}` */
export function goStrings(map: object | undefined): string {
  return map === undefined ? 'map[string]string(nil)' : `map[string]string{${goEntries(map)}}`;
}

const goEntries = (
  map: object,
  write: (value: unknown) => string = (value) => goQuote(String(value)),
): string =>
  Object.entries(map)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${goQuote(key)}:${write(value)}`)
    .join(', ');

/** `rbac.RoleRef{APIGroup:"", Kind:"Role", Name:"a"}`: all fields in the order of the type. */
export function goStruct(type: string, fields: Readonly<Record<string, unknown>>): string {
  const written = Object.entries(fields).map(([name, value]) => `${name}:${goValue(value)}`);
  return `${type}{${written.join(', ')}}`;
}

/** What has no type but that of JSON: `map[string]interface {}{"a":1}`. */
export function goAny(value: unknown): GoText {
  if (typeof value !== 'object' || value === null) return shown(goValue(value));
  return shown(goInterface(value));
}

function goInterface(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value !== 'object') return goValue(value);
  return Array.isArray(value)
    ? `[]interface {}{${value.map(goInterface).join(', ')}}`
    : `map[string]interface {}{${goEntries(value, goInterface)}}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** strconv.Quote: what cannot be printed is written by its number; letters of all scripts can. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => ESCAPES[char] ?? toNumber(char))}"`;
}

function toNumber(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** Exponents from 1e+21 on and below 1e-04, of two digits at least. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value);
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
