import { type Minor, toVersion } from '../api/emulation.ts';
import { equal } from '../object/equality.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { nearestName } from './checks.ts';
import { type Flag, type FlagSet, UsageError, type ValuesOf } from './flag.ts';

/** The flags of one command line, read through their declarations. */
export class CommandLine {
  /** Texts by flag, in the order in which they were given. */
  readonly #texts: ReadonlyMap<Flag, readonly string[]>;

  constructor(texts: ReadonlyMap<Flag, readonly string[]>) {
    this.#texts = texts;
  }

  isGiven(flag: Flag): boolean {
    return this.#texts.has(flag);
  }

  /** The first that was given, with any value. */
  firstGiven(flags: readonly Flag[]): Flag | undefined {
    return [...this.#texts.keys()].find((flag) => flags.includes(flag));
  }

  /** @throws UsageError when a flag is given that the emulated version does not have */
  assertAllOf(emulated: Minor): void {
    for (const { shown, since } of this.#texts.keys())
      if (since !== undefined && since > emulated) {
        const later = toVersion(since);
        throw new UsageError(
          `${shown} came with ${later}, and ${toVersion(emulated)} is emulated: give --emulated-version=${later} or a later one`,
        );
      }
  }

  /** @throws UsageError */
  valueOf<Value>(flag: Flag<Value>): Value {
    return flag.read(this.#texts.get(flag));
  }

  /** The value of every flag as text, as Go's flags show it. Passwords are hidden. */
  texts(flags: readonly Flag[]): Readonly<Record<string, string>> {
    const toText = (flag: Flag): string => {
      const texts = this.#texts.get(flag);
      const value = texts === undefined ? flag.default : flag.parse(texts);
      return hidePasswords(Array.isArray(value) ? `[${value.join(',')}]` : String(value ?? ''));
    };
    return Object.freeze(Object.fromEntries(flags.map((flag) => [flag.name, toText(flag)])));
  }

  /** The options of a set of flags, defaults filled in. @throws UsageError */
  valuesOf<Flags extends FlagSet>(flags: Flags): ValuesOf<Flags> {
    const entries = Object.entries(flags).filter(([, { isEffective }]) => isEffective);
    // Each value has the type that its flag declares: this is the one place where names become types.
    return Object.fromEntries(entries.map(([name, flag]) => [name, this.valueOf(flag)])) as ValuesOf<Flags>;
  }
}

/**
 * Reads `--name value`, `--name=value`, `--switch`, `-v=2` and `-v 2`; a repeated list adds to it.
 * @throws UsageError
 */
export function parseFlags(args: readonly string[], flags: readonly Flag[]): CommandLine {
  const byName = new Map(flags.map((flag) => [flag.name, flag]));
  const given = new Map<Flag, readonly string[]>();
  for (let at = 0; at < args.length; at += 1) {
    const { name, inline } = splitArgument(args[at] ?? '');
    const flag = byName.get(canonicalName(name)) ?? unknownFlag(name, flags);
    const takesNext = inline === undefined && flag.type !== 'bool' && flag.type !== 'version';
    if (takesNext && at + 1 >= args.length) throw new UsageError(`--${name} needs a value`);
    const text = inline ?? (takesNext ? (args[at + 1] ?? '') : 'true');
    if (takesNext) at += 1;
    flag.parse([text]);
    given.set(flag, [...(given.get(flag) ?? []), text]);
  }
  for (const [flag, texts] of given) assertEffective(flag, texts);
  return new CommandLine(given);
}

function splitArgument(argument: string): { name: string; inline: string | undefined } {
  const match = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(argument);
  if (match === null)
    throw new UsageError(`unexpected argument ${JSON.stringify(hidePasswords(argument))}; see --help`);
  const [, name = '', inline] = match;
  return { name, inline };
}

/** The ecosystem's name for the node agent is accepted. */
function canonicalName(name: string): string {
  return name.startsWith('kubelet-') ? `agent-${name.slice('kubelet-'.length)}` : name;
}

function unknownFlag(name: string, flags: readonly Flag[]): never {
  if (name.startsWith('etcd-')) {
    throw new UsageError(
      `unknown flag --${name}: this server stores in PostgreSQL; the flag is --kvstore-${name.slice(5)}`,
    );
  }
  const nearest = nearestName(
    name,
    flags.map((flag) => flag.name),
  );
  const hint = nearest === undefined ? 'see --help' : `did you mean --${nearest}?`;
  throw new UsageError(`unknown flag --${name}: ${hint}`);
}

function assertEffective(flag: Flag, texts: readonly string[]): void {
  if (flag.isEffective || equal(flag.parse(texts), flag.default)) return;
  const fallback = flag.default === undefined ? 'nothing' : JSON.stringify(flag.default);
  throw new UsageError(
    `${flag.shown} has no effect in this version and can only be left at its default (${fallback})`,
  );
}
