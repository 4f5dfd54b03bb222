/** Paths of fields, as changes tell them: `spec.template.spec.containers[name=web].image`. */

/** Whether `path` is `parent`, or a part of it. */
export const isWithin = (path: string, parent: string): boolean =>
  path === parent || (path.startsWith(parent) && /^[.[]/.test(path.slice(parent.length)));

/** The one of `paths` that a field is, or is a part of. The longest, where one is a part of the other. */
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

/** Those of `paths` that one of `wished` is, is a part of, or has as a part. */
export const touchedBy = (paths: readonly string[], wished: readonly string[]): string[] =>
  paths.filter((path) => wished.some((wish) => isWithin(path, wish) || isWithin(wish, path)));

/** Of metadata, only this is somebody's; the rest is the server's. */
const PUT_BACK = /^metadata\.(labels|annotations|finalizers|ownerReferences)($|[.[])/;

/** Whether a restore of fields may name it. The whole object has no path. */
export const canBePutBack = (path: string): boolean =>
  path !== '' && !/^(kind|apiVersion)$/.test(path) && (!isWithin(path, 'metadata') || PUT_BACK.test(path));
