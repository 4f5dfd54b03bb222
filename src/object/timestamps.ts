/** How objects write moments: in UTC, as RFC 3339. */

let lastSecond = { second: 0, text: '1970-01-01T00:00:00Z' };

/** Writes whole seconds, as metav1.Time. Cached: many writes fall into one second, and each calls this twice. */
export function toTimestamp(date: Date): string {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== lastSecond.second) lastSecond = { second, text: `${date.toISOString().slice(0, 19)}Z` };
  return lastSecond.text;
}

/** Writes microseconds, as metav1.MicroTime. */
export const toMicroTime = (date: Date): string => `${date.toISOString().slice(0, -1)}000Z`;

/** `2026-01-31` */
export const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
