import { parseDuration } from '../util/duration.ts';

export { parseDuration };

/** One declaration a flag: parsing, checking, --help and the defaults all come from it. */
export interface FlagInit {
  readonly name: string;
  readonly type: FlagType;
  readonly default: FlagValue;
  readonly meaning: string;
  /** False: known, but what it does does not exist; the server then refuses every value but the default. */
  readonly effective?: boolean;
}

/** `repeated` is a list whose values may hold commas: one a flag. `version` is a switch that may have a value. */
export type FlagType = 'string' | 'strings' | 'repeated' | 'bool' | 'int' | 'float' | 'duration' | 'version';
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

/** @throws UsageError that names the flag, what was given, and what is right */
export function parseFlagValue({ name, type }: Flag, text: string): FlagValue {
  const wrong = (right: string): UsageError =>
    new UsageError(`--${name}: ${JSON.stringify(text)} is not ${right}`);
  switch (type) {
    case 'string':
    case 'version':
      return text;
    case 'repeated':
      return [text];
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
