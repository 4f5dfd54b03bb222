/**
 * Validates schedules: five fields, or names for usual ones (github.com/robfig/cron v3, ParseStandard, as in Kubernetes, with
 * its messages). Only controllers compute times.
 *
 *   30 2 * * mon-fri     *\/5 0-6,22-23 * * *     @daily     @every 1h30m
 */

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Bounds[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];

const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';

class ScheduleError extends Error {}

/** Undefined when the schedule is good; otherwise the first thing wrong with it. */
export function checkSchedule(schedule: string): string | undefined {
  try {
    if (schedule === '') fail('empty spec string');
    parse(schedule.replace(/^(CRON_)?TZ=\S*\s*/, ''));
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function fail(why: string): never {
  throw new ScheduleError(why);
}

function parse(schedule: string): void {
  if (schedule.startsWith('@')) {
    parseDescriptor(schedule);
    return;
  }
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    fail(`expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  for (const [at, bounds] of FIELDS.entries()) {
    for (const range of (fields[at] ?? '').split(',')) if (range !== '') parseRange(range, bounds);
  }
}

function parseDescriptor(text: string): void {
  if (DESCRIPTORS.includes(text)) return;
  if (!text.startsWith(EVERY)) fail(`unrecognized descriptor: ${text}`);
  const why = checkDuration(text.slice(EVERY.length));
  if (why !== undefined) fail(`failed to parse duration ${text}: ${why}`);
}

/** `*`, `5`, `5-9`, `*\/2`, `5/2`, `5-9/2` */
function parseRange(text: string, bounds: Bounds): void {
  const [span = '', step, ...steps] = text.split('/');
  const limits = span.split('-');
  const { start, end } = parseSpan(limits, text, bounds);
  if (steps.length > 0) fail(`too many slashes: ${text}`);
  const stepSize = step === undefined ? 1 : parseNumber(step);
  const last = step !== undefined && limits.length === 1 ? bounds.most : end;
  if (start < bounds.least) fail(`beginning of range (${start}) below minimum (${bounds.least}): ${text}`);
  if (last > bounds.most) fail(`end of range (${last}) above maximum (${bounds.most}): ${text}`);
  if (start > last) fail(`beginning of range (${start}) beyond end of range (${last}): ${text}`);
  if (stepSize === 0) fail(`step of range should be a positive number: ${text}`);
}

function parseSpan(limits: readonly string[], text: string, bounds: Bounds): { start: number; end: number } {
  const [first = '', second] = limits;
  if (first === '*' || first === '?') return { start: bounds.least, end: bounds.most };
  const start = parseLimit(first, bounds);
  if (limits.length > 2) fail(`too many hyphens: ${text}`);
  return { start, end: second === undefined ? start : parseLimit(second, bounds) };
}

function parseLimit(text: string, { names }: Bounds): number {
  const named = text === '' ? -1 : names.indexOf(text.toLowerCase());
  return named >= 0 ? named : parseNumber(text);
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    const quoted = JSON.stringify(text);
    fail(`failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}: invalid syntax`);
  }
  const value = Number(text);
  if (value < 0) fail(`negative number (${value}) not allowed: ${text}`);
  return value;
}

const UNITS = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** Go's durations: `1h30m`, `1.5h`, `-5s`, `0`. */
function checkDuration(text: string): string | undefined {
  const quoted = JSON.stringify(text);
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return undefined;
  const invalid = `time: invalid duration ${quoted}`;
  if (!/^(\d+\.?\d*|\.\d+)/.test(rest)) return invalid;
  for (const [, number = '', unit = ''] of rest.matchAll(/([\d.]*)([^\d.]*)/g)) {
    if (number === '' && unit === '') continue;
    if (!/^(\d+\.?\d*|\.\d+)$/.test(number)) return invalid;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!UNITS.includes(unit)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
  }
  return undefined;
}

/** Time zones by their names in the IANA database: `Europe/Berlin`, `Etc/UTC`. */

/** Letters, and characters of old names (https://data.iana.org/time-zones/theory.html#naming). */
const PART = /^(?!-)[A-Za-z._\-0-9+]{1,14}$/;
const EXPLICIT = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';

export function checkTimeZone(name: string): string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const wellFormed = name.split('/').every((part) => PART.test(part) && part !== '.' && part !== '..');
  const unknown = `unknown time zone ${name}`;
  if (!wellFormed) return [unknown];
  if (name === 'Local') return [EXPLICIT];
  return [...(name.toLowerCase() === 'local' ? [EXPLICIT] : []), ...(isZone(name) ? [] : [unknown])];
}

/**
 * Intl knows the database but is generous: it takes any case, and offsets such as `+0100`. Names in the database are files,
 * whose parts all begin with a capital.
 */
function isZone(name: string): boolean {
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
