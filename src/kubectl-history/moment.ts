import { UsageError } from './usage-error.ts';

/** The value of `--since`, `--at` and similar flags: a revision, or a time in RFC 3339 (UTC). */
type PointInTime =
  | { readonly kind: 'revision'; readonly text: string }
  | { readonly kind: 'moment'; readonly text: string; readonly at: Date };

const EXAMPLES =
  "write '10 min ago', 2h, 'yesterday 14:00', '2026-11-22 14:00', 2026-11-22T14:00:00Z, or the number of a revision";

/**
 * Times without a zone are local. A time of day alone means its last occurrence.
 *
 *   4711             → the revision
 *   10m, 1h30m, '10 min ago', 'an hour ago', 'last hour', -2h
 *   9:30, 'today 9:30', yesterday, 'yesterday at 2pm', '2pm yesterday', 'monday 14:00'
 *   2026-11-22, '2026-11-22 14:00', '2026-11-22 14:00:05+01:00', 2026-11-22T14:00:05.123456Z
 *
 * @throws UsageError
 */
export function parsePointInTime(flag: string, text: string, now: Date): PointInTime {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  if (/^\d+$/.test(words)) {
    if (/^0+$/.test(words)) throw new UsageError(`${flag}: there is no revision 0; ${EXAMPLES}`);
    return { kind: 'revision', text: words.replace(/^0+/, '') };
  }
  const found = readMoment(words, now);
  if (found === undefined) throw new UsageError(`${flag}: ${JSON.stringify(text)} is no moment; ${EXAMPLES}`);
  if (found.at.getTime() > now.getTime()) {
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is in the future (${found.text})`);
  }
  return { kind: 'moment', ...found };
}

interface Moment {
  readonly at: Date;
  readonly text: string;
}

const momentAt = (at: Date): Moment | undefined =>
  Number.isNaN(at.getTime()) || at.getTime() < 0 ? undefined : { at, text: at.toISOString() };

function readMoment(words: string, now: Date): Moment | undefined {
  if (words === 'now') return momentAt(now);
  return readDate(words) ?? readDay(words, now) ?? readAgo(words, now);
}

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:(?: at |[t ])(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?(?: ?(z|utc|[+-]\d\d(?::?\d\d)?))?)?$/;

function readDate(words: string): Moment | undefined {
  const match = DATE.exec(words);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [, , , , , , , fraction = '', zone] = match;
  const offset = offsetMinutes(zone);
  if (Number.isNaN(offset)) return undefined;
  const at =
    offset === undefined
      ? new Date(year, month - 1, day, hour, minute, second)
      : new Date(Date.UTC(year, month - 1, day, hour, minute, second) - offset * 60_000);
  const milliseconds = Math.floor(Number(`0${fraction}`) * 1000);
  at.setUTCMilliseconds(milliseconds);
  const moment = momentAt(at);
  // Keeps microseconds, which a Date would lose.
  return moment && { at, text: moment.text.replace(/\.\d{3}Z$/, `${fraction}Z`) };
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Undefined: no zone. NaN: an unknown one. */
function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined) return undefined;
  if (zone === 'z' || zone === 'utc') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))];
  if (hours > 14 || minutes > 59) return Number.NaN;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const DAY = new RegExp(`^(?:last )?(today|yesterday|${WEEKDAYS.join('|')})(?:(?: at)? (.+))?$`);
/** `14:00 yesterday`, `2 pm on monday`. */
const CLOCK_FIRST = new RegExp(`^(.+?) (?:on )?((?:last )?(?:today|yesterday|${WEEKDAYS.join('|')}))$`);

function readDay(words: string, now: Date): Moment | undefined {
  const match = DAY.exec(words) ?? DAY.exec(words.replace(CLOCK_FIRST, '$2 $1'));
  const [, day, clock = 'midnight'] = match ?? [undefined, undefined, words];
  const time = readClock(clock);
  if (time === undefined) return undefined;
  const at = (daysBack: number): Date =>
    new Date(
      now.getFullYear(),
      now.getMonth(),
      now.getDate() - daysBack,
      time.hour,
      time.minute,
      time.second,
    );
  if (day === undefined) return momentAt(at(0) <= now ? at(0) : at(1));
  return momentAt(at(daysBackTo(day, now)));
}

function daysBackTo(day: string, now: Date): number {
  if (day === 'today') return 0;
  if (day === 'yesterday') return 1;
  return ((now.getDay() - WEEKDAYS.indexOf(day) + 6) % 7) + 1;
}

interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const NOON: Clock = { hour: 12, minute: 0, second: 0 };
const MIDNIGHT: Clock = { hour: 0, minute: 0, second: 0 };

/** 14:00, 14:00:05, 2pm, 2:30 pm, noon, midnight. */
function readClock(words: string): Clock | undefined {
  if (words === 'noon') return NOON;
  if (words === 'midnight') return MIDNIGHT;
  const [match, hours, minutes, seconds, half] =
    /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)? ?(am|pm)?$/.exec(words) ?? [];
  if (match === undefined || (minutes === undefined && half === undefined)) return undefined;
  const [given, minute, second] = [Number(hours), Number(minutes ?? 0), Number(seconds ?? 0)];
  if (minute > 59 || second > 59) return undefined;
  if (half === undefined) return given > 23 ? undefined : { hour: given, minute, second };
  if (given < 1 || given > 12) return undefined;
  return { hour: (given % 12) + (half === 'pm' ? 12 : 0), minute, second };
}

const UNITS: readonly (readonly [RegExp, (at: Date, count: number) => void])[] = [
  [/^(s|secs?|seconds?)$/, (at, count) => at.setTime(at.getTime() - count * 1000)],
  [/^(m|mins?|minutes?)$/, (at, count) => at.setTime(at.getTime() - count * 60_000)],
  [/^(h|hrs?|hours?)$/, (at, count) => at.setTime(at.getTime() - count * 3_600_000)],
  [/^(d|days?)$/, (at, count) => at.setTime(at.getTime() - count * 86_400_000)],
  [/^(w|wks?|weeks?)$/, (at, count) => at.setTime(at.getTime() - count * 7 * 86_400_000)],
  [/^(mo|months?)$/, (at, count) => at.setMonth(at.getMonth() - count)],
  [/^(y|yrs?|years?)$/, (at, count) => at.setFullYear(at.getFullYear() - count)],
];

/** `10m`, `1h30m`, `10 min ago`, `2 hours and 5 minutes ago`, `an hour ago`. */
function readAgo(words: string, now: Date): Moment | undefined {
  const text = words
    .replace(/ ago$/, '')
    .replace(/^-/, '')
    .replace(/^(?:an?|last) /, '1 ')
    .replaceAll(/ and |, /g, ' ');
  if (!/^(\d+(\.\d+)? ?[a-z]+ ?)+$/.test(text)) return undefined;
  const at = new Date(now);
  for (const [, count, name = ''] of text.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/g)) {
    const unit = UNITS.find(([names]) => names.test(name));
    if (unit === undefined) return undefined;
    unit[1](at, Number(count));
  }
  return momentAt(at);
}
