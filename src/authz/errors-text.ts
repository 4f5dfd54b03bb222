/**
 * Joins errors without duplicates: one stays as it is, several stand in brackets (apimachinery, util/errors, Aggregate).
 * Undefined when there are none.
 */
export function joinErrors(errors: readonly string[]): string | undefined {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : distinct[0];
}
