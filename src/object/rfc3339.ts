const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Epoch milliseconds; undefined when the text is no time (RFC 3339, with a day that its month has). */
export function parseRfc3339(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined;
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) return undefined;
  // Date.parse reads February 30 as March 2.
  const day = Number(text.slice(8, 10));
  const month = Number(text.slice(5, 7));
  const last = new Date(Date.UTC(2000 + (Number(text.slice(0, 4)) % 400), month, 0)).getUTCDate();
  return day <= last ? timeMs : undefined;
}
