/** Formats and parses times, in milliseconds since 1970. */

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^s(ec(ond)?s?)?$/, SECOND],
  [/^m(in(ute)?s?)?$/, MINUTE],
  [/^h(ours?|rs?)?$/, HOUR],
  [/^d(ays?)?$/, DAY],
  [/^w(eeks?)?$/, 7 * DAY],
];

/** An age as kubectl shows it: 45s, 3m20s, 5h, 2d. */
export function ageOf(ms: number): string {
  if (ms < 0) return '0s';
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)}s`;
  if (ms < 10 * MINUTE) return twoParts(ms, [MINUTE, 'm'], [SECOND, 's']);
  if (ms < 3 * HOUR) return `${Math.floor(ms / MINUTE)}m`;
  if (ms < 8 * HOUR) return twoParts(ms, [HOUR, 'h'], [MINUTE, 'm']);
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)}h`;
  if (ms < 8 * DAY) return twoParts(ms, [DAY, 'd'], [HOUR, 'h']);
  return ms < 730 * DAY ? `${Math.floor(ms / DAY)}d` : `${Math.floor(ms / (365 * DAY))}y`;
}

function twoParts(
  ms: number,
  [big, b]: readonly [number, string],
  [small, s]: readonly [number, string],
): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)}${b}${rest === 0 ? '' : `${rest}${s}`}`;
}

/** `3 minutes ago`, for sentences. */
export function agoOf(ms: number): string {
  if (ms < 5 * SECOND) return 'just now';
  const [unit, size] =
    ms < 2 * MINUTE
      ? (['second', SECOND] as const)
      : ms < 2 * HOUR
        ? (['minute', MINUTE] as const)
        : ms < 2 * DAY
          ? (['hour', HOUR] as const)
          : ms < 730 * DAY
            ? (['day', DAY] as const)
            : (['year', 365.25 * DAY] as const);
  const count = Math.round(ms / size);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

/** Local time, with the day unless it is today. */
export function clockOf(at: number, now: number): string {
  const time = new Date(at).toLocaleTimeString('en-GB');
  return sameDay(at, now) ? time : `${dayOf(at, now)}, ${time}`;
}

/** The day, with the year unless it is this year. */
export function dayOf(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Date(at).toLocaleDateString('en-GB', {
    ...{ day: 'numeric', month: 'short' },
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
}

const sameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString();

/** Parses `10 min ago`, `2h`, `09:30`, `yesterday 09:30`, `2026-01-31 12:00`, `2026-01-31T12:00:00Z`. Undefined: it is no time. */
export function parseMoment(text: string, now: number): number | undefined {
  const said = text.trim().toLowerCase();
  if (said === 'now') return now;
  const ago = /^(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s+ago)?$/.exec(said);
  if (ago !== null) {
    const size = UNITS.find(([unit]) => unit.test(ago[2] ?? ''))?.[1];
    return size === undefined ? undefined : now - Number(ago[1]) * size;
  }
  const time = /^(yesterday\s+|today\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(said);
  if (time !== null) return timeOfDay(time, now);
  const parsed = /^\d{4}-\d{2}-\d{2}([ t]\d{2}:\d{2}.*)?$/.test(said)
    ? Date.parse(said.length === 10 ? `${said}T00:00` : said.replace(' ', 'T').toUpperCase())
    : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** A time without a day means its last occurrence. */
function timeOfDay([, day, hours, minutes, seconds]: RegExpExecArray, now: number): number | undefined {
  const date = new Date(now);
  const [h, m, s] = [hours, minutes, seconds ?? '0'].map(Number);
  if (h === undefined || h > 23 || (m ?? 0) > 59 || (s ?? 0) > 59) return undefined;
  date.setHours(h, m, s, 0);
  if (day?.startsWith('yesterday') === true || (day === undefined && date.getTime() > now))
    date.setDate(date.getDate() - 1);
  return date.getTime();
}
