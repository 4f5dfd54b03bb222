/** One declaration a flag: parsing, checking, --help and the defaults all come from it. */
export interface FlagInit {
  readonly name: string;
  readonly type: FlagType;
  readonly default: FlagValue;
  readonly meaning: string;
  /** False: known, but what it does does not exist; the server then refuses every value but the default. */
  readonly effective?: boolean;
}

export type FlagType = 'string' | 'strings' | 'bool' | 'int' | 'float' | 'duration';
/** A duration keeps its text. Undefined: not set, and no default. */
export type FlagValue = string | readonly string[] | boolean | number | undefined;

export interface Flag extends FlagInit {
  readonly heading: string;
}

export function defineFlags(heading: string, flags: readonly FlagInit[]): readonly Flag[] {
  return flags.map((flag) => ({ ...flag, heading }));
}

/** What is wrong with the command line, in one line for the person who typed it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Go's durations in milliseconds: `1h30m`, `500ms`, `0`. Days are ours: `30d`. Undefined for anything else.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h|d)/g)) {
    totalMs += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0);
  }
  return totalMs;
}

/** @throws UsageError that names the flag, what was given, and what is right */
export function parseFlagValue({ name, type }: Flag, text: string): FlagValue {
  const wrong = (right: string): UsageError =>
    new UsageError(`--${name}: ${JSON.stringify(text)} is not ${right}`);
  switch (type) {
    case 'string':
      return text;
    case 'strings':
      return text === '' ? [] : text.split(',').map((item) => item.trim());
    case 'bool': {
      if (/^(true|t|1)$/i.test(text)) return true;
      if (/^(false|f|0)$/i.test(text)) return false;
      throw wrong('true or false');
    }
    case 'int':
      if (!/^-?\d+$/.test(text)) throw wrong('a whole number');
      return Number(text);
    case 'float':
      if (!/^-?\d+(\.\d+)?$/.test(text)) throw wrong('a number');
      return Number(text);
    case 'duration':
      if (parseDuration(text) === undefined) throw wrong('a duration such as 30s, 2m0s or 1h');
      return text;
    default:
      return type satisfies never;
  }
}
