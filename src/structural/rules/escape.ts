/** Escapes names of fields for expressions (apiserver/pkg/cel/escaping.go): `my-field` → `my__dash__field`. */

const RESERVED: ReadonlySet<string> = new Set([
  'true',
  'false',
  'null',
  'in',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
]);

/** Expressions may write such a name of a field as it is, too: `self.namespace`. */
export const isReserved = (name: string): boolean => RESERVED.has(name);

export const escapeReserved = (name: string): string => `__${name}__`;

const ESCAPABLE = /^[A-Za-z_./-][\w./-]*$/;
const SPECIAL = /__|[./-]/g;
const WORDS: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** Undefined: expressions cannot access the field. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return escapeReserved(name);
  if (!ESCAPABLE.test(name)) return undefined;
  return name.replace(SPECIAL, (special) => WORDS[special] ?? special);
}
