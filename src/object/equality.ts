/** Structural equality of JSON values; an absent field equals an undefined one. Key order does not matter. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => equal(item, b[at]));
  }
  return !Array.isArray(b) && equalFields(a as Fields, b as Fields, NOTHING);
}

type Fields = Readonly<Record<string, unknown>>;
const NOTHING: readonly string[] = [];

/** Equality of two objects that leaves some of their fields out. */
export function equalExcept(a: object, b: object, except: readonly string[]): boolean {
  return equalFields(a as Fields, b as Fields, except);
}

function equalFields(a: Fields, b: Fields, except: readonly string[]): boolean {
  for (const key of Object.keys(a)) {
    if (!except.includes(key) && !equal(a[key], b[key])) return false;
  }
  for (const key of Object.keys(b)) {
    if (b[key] !== undefined && !(key in a) && !except.includes(key)) return false;
  }
  return true;
}
