import type { JsonValue } from '../api/object-meta.ts';

/** A number after the characters before a JSON value, so that texts do not count. The bound keeps the time linear. */
const EXPONENTIAL = /[:,[]\s{0,64}(-?\d[\d.]*[eE]\+?\d{3,})(?=[\s,\]}])/g;

/** A number of a megabyte must not make an answer of a megabyte. */
const MOST_SHOWN = 100;

/**
 * The first number of a JSON text that no float holds: Go refuses it. As it is written, but a long one ends after
 * MOST_SHOWN characters. `value`: the parsed text.
 */
export function infiniteNumberOf(value: JsonValue, json: Buffer): string | undefined {
  if (!holdsInfinity(value)) return undefined;
  for (const [, text = ''] of json.toString('latin1').matchAll(EXPONENTIAL))
    if (!Number.isFinite(Number(text)))
      return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return '';
}

function holdsInfinity(value: JsonValue | undefined): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}
