/** A flag as other programs are given theirs: `--name=value`, `--name value` or `--name`. */
export interface Word {
  /** Without dashes; undefined: not a flag. */
  readonly name: string | undefined;
  readonly value: string | undefined;
  /** As one argument. */
  readonly text: string;
}

/** An argument that follows a flag without a value and does not begin with a dash is its value. Empty arguments are left out. */
export function readWords(args: readonly string[]): Word[] {
  const words: Word[] = [];
  const given = args.filter((argument) => argument !== '');
  for (let at = 0; at < given.length; at += 1) {
    const text = given[at] ?? '';
    const [, name, inline] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(text) ?? [];
    const next = given[at + 1];
    if (name === undefined || inline !== undefined || next === undefined || next.startsWith('-')) {
      words.push({ name, value: inline, text });
      continue;
    }
    words.push({ name, value: next, text: `${text}=${next}` });
    at += 1;
  }
  return words;
}

/** The last one counts. */
export const valueIn = (words: readonly Word[], wanted: string): string | undefined =>
  words.findLast(({ name }) => name === wanted)?.value;
