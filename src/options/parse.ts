import { equal } from '../object/equality.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { type Flag, type FlagValue, parseDuration, parseFlagValue, UsageError } from './flag.ts';

/** The values of all flags by name, defaults filled in. */
export class FlagValues {
  readonly #values: ReadonlyMap<string, FlagValue>;
  readonly #given: ReadonlySet<string>;

  constructor(values: ReadonlyMap<string, FlagValue>, given: Iterable<string>) {
    this.#values = values;
    this.#given = new Set(given);
  }

  /** Whether the flag was given, with whatever value. */
  isSet(name: string): boolean {
    return this.#given.has(name);
  }

  /** A flag that was given whose name begins so. */
  given(prefix: string): string | undefined {
    return [...this.#given].find((name) => name.startsWith(prefix));
  }

  string(name: string): string {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : '';
  }

  strings(name: string): readonly string[] {
    const value = this.#values.get(name);
    return Array.isArray(value) ? value : [];
  }

  bool(name: string): boolean {
    return this.#values.get(name) === true;
  }

  number(name: string): number {
    const value = this.#values.get(name);
    return typeof value === 'number' ? value : 0;
  }

  /** Milliseconds. */
  duration(name: string): number {
    return parseDuration(this.string(name)) ?? 0;
  }
}

/**
 * Reads `--name value`, `--name=value`, `--switch`, `-v=2` and `-v 2`; a repeated list adds to it.
 * @throws UsageError
 */
export function parseFlags(args: readonly string[], flags: readonly Flag[]): FlagValues {
  const byName = new Map(flags.map((flag) => [flag.name, flag]));
  const given = new Map<string, FlagValue>();
  for (let at = 0; at < args.length; at += 1) {
    const { name, inline } = splitArgument(args[at] ?? '');
    const flag = byName.get(canonicalName(name)) ?? unknownFlag(name, flags);
    const takesNext = inline === undefined && flag.type !== 'bool' && flag.type !== 'version';
    if (takesNext && at + 1 >= args.length) throw new UsageError(`--${name} needs a value`);
    const text = inline ?? (takesNext ? (args[at + 1] ?? '') : 'true');
    if (takesNext) at += 1;
    const value = parseFlagValue(flag, text);
    const before = given.get(flag.name);
    given.set(flag.name, Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value);
  }
  for (const [name, value] of given) assertEffective(byName.get(name), value);
  return new FlagValues(
    new Map(flags.map((flag) => [flag.name, given.has(flag.name) ? given.get(flag.name) : flag.default])),
    given.keys(),
  );
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

function assertEffective(flag: Flag | undefined, value: FlagValue): void {
  if (flag === undefined || flag.effective !== false || equal(value, flag.default)) return;
  const fallback = flag.default === undefined ? 'nothing' : JSON.stringify(flag.default);
  throw new UsageError(
    `--${flag.name} has no effect in this version and can only be left at its default (${fallback})`,
  );
}

/** The name with the fewest changes, if that is few. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((other) => ({ other, changes: countChanges(name, other) }))
    .sort((a, b) => a.changes - b.changes);
  const [best] = ranked;
  return best !== undefined && best.changes <= Math.max(2, name.length / 3) ? best.other : undefined;
}

/** Levenshtein distance. */
function countChanges(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
