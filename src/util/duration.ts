const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Go's durations in milliseconds: `1h30m`, `500ms`, `0`. Days are ours: `30d`. Undefined for anything else.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ns|us|ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ns|us|ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0);
  }
  return totalMs;
}
