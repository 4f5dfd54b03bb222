import { parsePlainly } from '../exact-json.ts';
import type { FieldSet } from './field-set.ts';

/** How long the texts of a generation are together. Their sets take three times as much. */
const GENERATION_CHARS = 512 * 1024;
/** How long a generation lasts at least. */
const MIN_GENERATION_MS = 10_000;

/**
 * The sets of stored objects, by their text. The objects that one controller writes have the same sets, and those of one
 * object are the same from write to write: half of a pod's JSON is neither parsed again nor written out again for them.
 *
 * What was not used while as much again came in is forgotten. When there is no more room the first to come stay for a while:
 * remembering a set costs as much as parsing it, and those of a long list may all be met only once.
 */
export class KnownSets {
  readonly #now: () => number;
  #young = new Map<string, FieldSet>();
  #old: ReadonlyMap<string, FieldSet> = new Map();
  #youngChars = 0;
  #begunAt: number;
  readonly #texts = new WeakMap<object, string>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#begunAt = now();
  }

  /** A set that is remembered is frozen, because it becomes part of many objects. @throws SyntaxError */
  parse(text: string): FieldSet {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    const set = old ?? (parsePlainly(text) as unknown as FieldSet);
    // A part of a text keeps all of it in memory, so that its own copy is kept.
    if (this.#hasRoom() || old !== undefined)
      this.#remember(this.#texts.get(set) ?? Buffer.from(text).toString(), set);
    return set;
  }

  textOf(set: object): string | undefined {
    return this.#texts.get(set);
  }

  #hasRoom(): boolean {
    if (this.#youngChars <= GENERATION_CHARS) return true;
    const now = this.#now();
    if (now - this.#begunAt < MIN_GENERATION_MS) return false;
    this.#begunAt = now;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngChars = 0;
    return true;
  }

  #remember(text: string, set: FieldSet): void {
    freeze(set);
    this.#young.set(text, set);
    this.#youngChars += text.length;
    this.#texts.set(set, text);
  }
}

function freeze(set: FieldSet): void {
  if (Object.isFrozen(set)) return;
  for (const element in set) freeze(set[element] ?? {});
  Object.freeze(set);
}

const known = new KnownSets();

/** The set that a text says, which others may have too. @throws SyntaxError */
export const parseSet = (text: string): FieldSet => known.parse(text);

/** Undefined for a set that was made since, rather than read. */
export const knownTextOf = (set: object): string | undefined => known.textOf(set);
