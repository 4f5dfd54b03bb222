import type { Minor } from '../api/emulation.ts';
import { parseDuration } from '../util/duration.ts';
import { errorText } from '../util/error-text.ts';

/** A mistake in the command line, with a message of one line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Adds the flag's name to errors about its value. @throws Error */
export function explainFlag<Result>(shown: string, attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    throw blameFlag(shown, error);
  }
}

export const blameFlag = (shown: string, cause: unknown): Error =>
  new Error(`${shown}: ${errorText(cause)}`, { cause });

/** `repeated` is a list whose values may hold commas: one a flag. `version` is a switch that may have a value. */
type FlagType = 'string' | 'strings' | 'repeated' | 'bool' | 'int' | 'float' | 'duration' | 'version';

/** A duration keeps its text. Undefined: not set, and no default. */
type FlagText = string | readonly string[] | boolean | number | undefined;

/**
 * One flag, declared once: its parsing, check, line of --help, default and option type come from the declaration. `Value` is
 * the type that the server uses.
 *
 *     securePort: int('secure-port', { default: 6443, meaning: 'HTTPS port', check: portNumber })
 */
export interface Flag<Value = unknown> {
  readonly name: string;
  /** As on the command line: `--secure-port`. */
  readonly shown: string;
  readonly type: FlagType;
  readonly default: FlagText;
  readonly meaning: string;
  /** False: the server knows the flag, does nothing with it, and refuses every value but the default. */
  readonly isEffective: boolean;
  /** The first version of Kubernetes that has the flag; undefined: every one. */
  readonly since: Minor | undefined;
  /** Parses the given texts, before the check. @throws UsageError */
  parse(texts: readonly string[]): FlagText;
  /** Undefined: the flag was not given. @throws UsageError */
  read(texts: readonly string[] | undefined): Value;
}

/** A flag without effect has no value that could be read. */
type IneffectiveFlag = Flag<undefined>;
export type FlagSet = Readonly<Record<string, Flag>>;
/** The options that a set of flags gives, by the names in the set. */
export type ValuesOf<Flags extends FlagSet> = {
  readonly [Name in keyof Flags as Flags[Name] extends IneffectiveFlag
    ? never
    : Name]: Flags[Name] extends Flag<infer Value> ? Value : never;
};

/** Returns the value that the server uses. `flag`: as on the command line. @throws UsageError */
type Check<Plain, Value = Plain> = (value: Plain, flag: string) => Value;

interface Declaration<Default> {
  /** Absent: none, and the value is the empty one of the type. */
  readonly default?: Default;
  readonly meaning: string;
  /** See {@link Flag.since}. */
  readonly since?: Minor;
}

/** How the texts of a type are understood. */
interface Kind<Parsed extends FlagText, Plain> {
  readonly type: FlagType;
  /** @throws UsageError */
  parse(text: string, wrong: (right: string) => UsageError): Parsed;
  /** Lists add up; of everything else, the last one counts. */
  readonly add?: (before: Parsed, next: Parsed) => Parsed;
  toPlain(parsed: Parsed | undefined): Plain;
}

/** A maker of flags of one type. The check gives the option its type; without one, it is the type's own. */
function flagsOf<Parsed extends FlagText, Plain>(kind: Kind<Parsed, Plain>) {
  function declare(
    name: string,
    says: Declaration<Parsed> & { readonly isEffective: false },
  ): IneffectiveFlag;
  function declare<Value>(
    name: string,
    says: Declaration<Parsed> & { readonly check: Check<Plain, Value> },
  ): Flag<Value>;
  function declare(name: string, says: Declaration<Parsed>): Flag<Plain>;
  function declare(
    name: string,
    says: Declaration<Parsed> & { readonly isEffective?: false; readonly check?: Check<Plain, unknown> },
  ): Flag {
    const { default: fallback, meaning, since, isEffective = true } = says;
    const { check = (value: Plain): unknown => value } = says;
    const shown = `--${name}`;
    const parse = (texts: readonly string[]): Parsed | undefined =>
      texts
        .map((text) =>
          kind.parse(text, (right) => new UsageError(`${shown}: ${JSON.stringify(text)} is not ${right}`)),
        )
        .reduce<Parsed | undefined>(
          (before, next) => (before === undefined || kind.add === undefined ? next : kind.add(before, next)),
          undefined,
        );
    return {
      ...{ name, shown, type: kind.type, default: fallback, meaning, isEffective, since, parse },
      read: (texts) => check(kind.toPlain(texts === undefined ? fallback : parse(texts)), shown),
    };
  }
  return declare;
}

const join = (before: readonly string[], next: readonly string[]): readonly string[] => [...before, ...next];

export const text = flagsOf<string, string>({
  type: 'string',
  parse: (value) => value,
  toPlain: (value = '') => value,
});

export const list = flagsOf<readonly string[], readonly string[]>({
  type: 'strings',
  parse: (value) => (value === '' ? [] : value.split(',').map((item) => item.trim())),
  add: join,
  toPlain: (value = []) => value,
});

export const repeated = flagsOf<readonly string[], readonly string[]>({
  type: 'repeated',
  parse: (value) => [value],
  add: join,
  toPlain: (value = []) => value,
});

export const bool = flagsOf<boolean, boolean>({
  type: 'bool',
  parse: (value, wrong) => {
    if (/^(true|t|1)$/i.test(value)) return true;
    if (/^(false|f|0)$/i.test(value)) return false;
    throw wrong('true or false');
  },
  toPlain: (value = false) => value,
});

export const int = flagsOf<number, number>({
  type: 'int',
  parse: (value, wrong) => {
    if (!/^-?\d+$/.test(value)) throw wrong('a whole number');
    return Number(value);
  },
  toPlain: (value = 0) => value,
});

export const float = flagsOf<number, number>({
  type: 'float',
  parse: (value, wrong) => {
    if (!/^-?\d+(\.\d+)?$/.test(value)) throw wrong('a number');
    return Number(value);
  },
  toPlain: (value = 0) => value,
});

/** Its value is in milliseconds. */
export const duration = flagsOf<string, number>({
  type: 'duration',
  parse: (value, wrong) => {
    if (parseDuration(value) === undefined) throw wrong('a duration such as 30s, 2m0s or 1h');
    return value;
  },
  toPlain: (value = '') => parseDuration(value) ?? 0,
});

export const version = flagsOf<string, string>({
  type: 'version',
  parse: (value) => value,
  toPlain: (value = '') => value,
});
