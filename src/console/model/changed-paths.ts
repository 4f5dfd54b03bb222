/** Paths of fields, as in changes: `spec.template.spec.containers[name=web].image`. */

/** Whether `path` is `parent`, or a part of it. */
export const isWithin = (path: string, parent: string): boolean =>
  path === parent || (path.startsWith(parent) && /^[.[]/.test(path.slice(parent.length)));

/** The longest of `paths` that equals a field or contains it. */
export function enclosing(path: string, paths: ReadonlySet<string>): string | undefined {
  if (paths.has(path)) return path;
  for (let end = path.length - 1; end > 0; end--) {
    const mark = path[end];
    if (mark !== '.' && mark !== '[') continue;
    const parent = path.slice(0, end);
    if (paths.has(parent)) return parent;
  }
  return undefined;
}

/** The `paths` that equal, contain, or are within one of `wished`. */
export const touchedBy = (paths: readonly string[], wished: readonly string[]): string[] =>
  paths.filter((path) => wished.some((wish) => isWithin(path, wish) || isWithin(wish, path)));

/** Metadata that users set; the server sets the rest. */
const PUT_BACK = /^metadata\.(labels|annotations|finalizers|ownerReferences)($|[.[])/;

/** Whether a restore of fields may name it. The whole object has no path. */
export const canBePutBack = (path: string): boolean =>
  path !== '' && !/^(kind|apiVersion)$/.test(path) && (!isWithin(path, 'metadata') || PUT_BACK.test(path));
