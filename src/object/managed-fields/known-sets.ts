import type { FieldSet } from './field-set.ts';

/** How long the texts of a generation are together. Their sets take three times as much. */
const GENERATION_CHARS = 512 * 1024;

/**
 * The sets of stored objects, by their text. The objects that one controller writes have the same sets, and those of one
 * object are the same from write to write: half of a pod's JSON is neither parsed again nor written out again for them.
 *
 * What was not used while as much again came in is forgotten.
 */
class KnownSets {
  #young = new Map<string, FieldSet>();
  #old = new Map<string, FieldSet>();
  #youngChars = 0;
  readonly #texts = new WeakMap<object, string>();

  /** Frozen, so that it can be part of many objects. @throws SyntaxError */
  parse(text: string): FieldSet {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    const set = old ?? (freeze(JSON.parse(text)) as FieldSet);
    // A part of a text keeps all of it in memory.
    this.#remember(this.#texts.get(set) ?? Buffer.from(text).toString(), set);
    return set;
  }

  textOf(set: object): string | undefined {
    return this.#texts.get(set);
  }

  #remember(text: string, set: FieldSet): void {
    if (this.#youngChars > GENERATION_CHARS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngChars = 0;
    }
    this.#young.set(text, set);
    this.#youngChars += text.length;
    this.#texts.set(set, text);
  }
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

const known = new KnownSets();

/** The set that a text says, which others may have too. @throws SyntaxError */
export const parseSet = (text: string): FieldSet => known.parse(text);

/** Undefined for a set that was made since, rather than read. */
export const knownTextOf = (set: object): string | undefined => known.textOf(set);
