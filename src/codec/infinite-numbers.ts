import type { JsonValue } from '../api/object-meta.ts';

/** A number after the characters before a JSON value, so that texts do not count. The bound keeps the time linear. */
const EXPONENTIAL = /[:,[]\s{0,64}(-?\d[\d.]*[eE]\+?\d{3,})(?=[\s,\]}])/g;

/** The first number of a JSON text that no float holds, as it is written: Go refuses it. `value`: the parsed text. */
export function infiniteNumberOf(value: JsonValue, json: Buffer): string | undefined {
  if (!holdsInfinity(value)) return undefined;
  for (const [, text = ''] of json.toString('latin1').matchAll(EXPONENTIAL))
    if (!Number.isFinite(Number(text))) return text;
  return '';
}

function holdsInfinity(value: JsonValue | undefined): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}
