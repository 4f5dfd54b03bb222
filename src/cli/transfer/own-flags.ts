import { parseFlags } from '../../options/command-line.ts';
import type { FlagSet, ValuesOf } from '../../options/flag.ts';

/** The values of a command's own flags, and the arguments that remain for the flags of all commands. */
interface OwnFlags<Flags extends FlagSet> {
  readonly values: ValuesOf<Flags>;
  readonly others: readonly string[];
}

/** @throws UsageError */
export function takeFlags<Flags extends FlagSet>(args: readonly string[], flags: Flags): OwnFlags<Flags> {
  const byName = new Map(Object.values(flags).map((flag) => [flag.name, flag]));
  const own: string[] = [];
  const others: string[] = [];
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name = '', inline] = /^--?([a-z][a-z-]*)(=.*)?$/s.exec(word) ?? [];
    const flag = byName.get(name);
    if (flag === undefined) {
      others.push(word);
      continue;
    }
    const next = inline === undefined && flag.type !== 'bool' ? words.shift() : undefined;
    own.push(word, ...(next === undefined ? [] : [next]));
  }
  return { values: parseFlags(own, Object.values(flags)).valuesOf(flags), others };
}
