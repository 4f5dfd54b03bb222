/**
 * Ages in tables. An age changes while its object does not, so the text of a row is made once, with a mark in place of each
 * age (`toUndated`), and gets its ages each time it is sent (`toDated`).
 *
 *   durationSince(start, start + 90_000)              → '90s'
 *   toUndated(`up ${durationSince(start, UNDATED)}`)  → pieces 'up ' and '', times [start]
 */

/** As the present time it makes {@link durationSince} write a mark in place of an age. */
export const UNDATED = Number.NaN;

export function durationSince(timeMs: number, nowMs: number): string {
  return Number.isNaN(nowMs) ? `\0${timeMs}\0` : humanDuration(nowMs - timeMs);
}

export interface Undated {
  /** One more than there are times. */
  readonly pieces: readonly string[];
  readonly timesMs: readonly number[];
}

/** A mark, plain or inside JSON. */
const MARK = /(?:\0|\\u0000)(-?\d+|NaN)(?:\0|\\u0000)/;

export function toUndated(text: string): Undated {
  const parts = text.split(MARK);
  return {
    pieces: parts.filter((_, at) => at % 2 === 0),
    timesMs: parts.filter((_, at) => at % 2 === 1).map(Number),
  };
}

export function toDated({ pieces, timesMs }: Undated, nowMs: number): string {
  let text = pieces[0] ?? '';
  for (let at = 0; at < timesMs.length; at += 1) {
    text += humanDuration(nowMs - (timesMs[at] ?? 0)) + (pieces[at + 1] ?? '');
  }
  return text;
}

const DAY_HOURS = 24;
const YEAR_HOURS = 365 * DAY_HOURS;

/** The steps of apimachinery's duration.HumanDuration: two units while the larger is small, then one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 2 * DAY_HOURS) return `${hours}h`;
  const days = Math.trunc(hours / DAY_HOURS);
  if (days < 8) return withRest(days, 'd', hours % DAY_HOURS, 'h');
  if (hours < 2 * YEAR_HOURS) return `${days}d`;
  const years = Math.trunc(hours / YEAR_HOURS);
  return hours < 8 * YEAR_HOURS ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

const withRest = (large: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${large}${unit}` : `${large}${unit}${rest}${restUnit}`;
