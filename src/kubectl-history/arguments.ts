import { closest } from './closest.ts';
import { EVERYWHERE, FLAGS, type Flag, type FlagKey, FOREIGN_FLAGS, KUBECTL_FLAGS } from './flags.ts';
import { UsageError } from './usage-error.ts';

/** The parsed command line, before the command has checked its flags. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly given: ReadonlyMap<FlagKey, readonly string[]>;
  /** kubectl's flags, each as one argument: `--context=prod`. */
  readonly forKubectl: readonly string[];
  readonly kubectl: ReadonlyMap<string, string>;
}

type Known = { readonly flag: Flag; readonly key: FlagKey | undefined };

const OWN = Object.entries(FLAGS).map(([key, flag]): Known => ({ flag, key: key as FlagKey }));
const KNOWN: readonly Known[] = [...OWN, ...KUBECTL_FLAGS.map((flag): Known => ({ flag, key: undefined }))];
const BY_NAME: ReadonlyMap<string, Known> = new Map(KNOWN.map((known) => [known.flag.name, known]));
const BY_LETTER: ReadonlyMap<string, Known> = new Map(
  KNOWN.flatMap((known) => (known.flag.short === undefined ? [] : [[known.flag.short, known]])),
);

/** @throws UsageError for an unknown flag, or one without its value */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const reader = new Reader(args);
  while (reader.next());
  return reader;
}

class Reader implements CommandLine {
  readonly words: string[] = [];
  readonly given = new Map<FlagKey, string[]>();
  readonly forKubectl: string[] = [];
  readonly kubectl = new Map<string, string>();
  readonly #rest: string[];

  constructor(args: readonly string[]) {
    this.#rest = [...args];
  }

  next(): boolean {
    const argument = this.#rest.shift();
    if (argument === undefined) return false;
    if (argument === '--') this.words.push(...this.#rest.splice(0));
    else if (argument.startsWith('--')) this.#long(argument);
    else if (argument.startsWith('-') && argument !== '-') this.#letters(argument.slice(1));
    else this.words.push(argument);
    return true;
  }

  #long(argument: string): void {
    const equals = argument.indexOf('=');
    const name = argument.slice(2, equals < 0 ? undefined : equals);
    const known = BY_NAME.get(name);
    if (known === undefined) throw unknownFlag(name, `--${name}`);
    this.#take(known, `--${name}`, equals < 0 ? undefined : argument.slice(equals + 1));
  }

  /** `-A`, `-n shop`, `-nshop`, `-n=shop`, and several flags without values together: `-Af`. */
  #letters(letters: string): void {
    const letter = letters.charAt(0);
    const rest = letters.slice(1);
    const known = BY_LETTER.get(letter);
    if (known === undefined) throw unknownFlag(letter, `-${letter}`);
    if (known.flag.type === 'boolean' && rest !== '' && !rest.startsWith('=')) {
      this.#take(known, `-${letter}`, undefined);
      this.#letters(rest);
    } else this.#take(known, `-${letter}`, rest === '' ? undefined : rest.replace(/^=/, ''));
  }

  #take({ flag, key }: Known, written: string, attached: string | undefined): void {
    const value =
      flag.type === 'boolean'
        ? readBoolean(flag, written, attached ?? 'true')
        : this.#value(flag, written, attached);
    if (key === undefined) {
      this.forKubectl.push(`--${flag.name}=${value}`);
      this.kubectl.set(flag.name, value);
      return;
    }
    const before = flag.multiple === true ? (this.given.get(key) ?? []) : [];
    this.given.set(key, [...before, value]);
  }

  #value({ value, choices }: Flag, written: string, attached: string | undefined): string {
    const text = attached ?? this.#rest.shift();
    if (text === undefined)
      throw new UsageError(`${written} needs a value${value === undefined ? '' : `: a ${value}`}`);
    if (choices !== undefined && !choices.includes(text)) {
      throw new UsageError(`${written}: ${JSON.stringify(text)} is none of ${choices.join(', ')}`);
    }
    return text;
  }
}

function readBoolean({ words }: Flag, written: string, value: string): string {
  const meant = words?.[value];
  if (meant !== undefined) return meant;
  if (/^(1|t|true)$/i.test(value)) return 'true';
  if (/^(0|f|false)$/i.test(value)) return 'false';
  const others = words === undefined ? '' : `, nor one of ${Object.keys(words).join(', ')}`;
  throw new UsageError(`${written}: ${JSON.stringify(value)} is neither true nor false${others}`);
}

function unknownFlag(name: string, written: string): UsageError {
  const instead = FOREIGN_FLAGS.get(name);
  if (instead !== undefined) return new UsageError(`there is no flag ${written}; ${instead}`);
  const near = written.startsWith('--') ? closest(name, [...BY_NAME.keys()]) : undefined;
  return new UsageError(
    `there is no flag ${written}${near === undefined ? '' : `; did you mean --${near}?`}`,
  );
}

/** The flags and words of a command, checked against those that it takes. */
export class CommandArguments {
  readonly words: readonly string[];
  readonly #line: CommandLine;

  /** @throws UsageError for a flag that the command does not take */
  constructor(command: string, takes: readonly FlagKey[], line: CommandLine) {
    this.#line = line;
    this.words = line.words.slice(1);
    for (const key of line.given.keys()) {
      if (takes.includes(key) || EVERYWHERE.includes(key)) continue;
      throw new UsageError(
        `${command} has no flag --${FLAGS[key].name}; it takes ${takes.map((taken) => `--${FLAGS[taken].name}`).join(', ')}`,
      );
    }
  }

  text(key: FlagKey): string | undefined {
    return this.#line.given.get(key)?.at(-1);
  }

  texts(key: FlagKey): readonly string[] {
    return this.#line.given.get(key) ?? [];
  }

  has(key: FlagKey): boolean {
    return this.text(key) === 'true';
  }

  /** @throws UsageError unless it is a positive integer */
  count(key: FlagKey): number | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    const count = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0) return count;
    throw new UsageError(`--${FLAGS[key].name}: ${JSON.stringify(text)} is no whole number of 1 or more`);
  }
}
