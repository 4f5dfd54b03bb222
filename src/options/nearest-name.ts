/** The name with the fewest changes, if that is few. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((other) => ({ other, changes: countChanges(name, other) }))
    .sort((a, b) => a.changes - b.changes);
  const [best] = ranked;
  return best !== undefined && best.changes <= Math.max(2, name.length / 3) ? best.other : undefined;
}

/** Levenshtein distance. */
function countChanges(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
