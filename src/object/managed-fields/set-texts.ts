import { parsePlainly } from '../exact-json.ts';
import { type FieldSet, LEAF } from './field-set.ts';

/** Total length of the texts of one generation. Their sets take three times as much memory. */
const GENERATION_CHARS = 512 * 1024;
/** The least time that a generation lasts. */
const MIN_GENERATION_MS = 10_000;

/**
 * Remembers the sets of stored objects by their text. The objects of one controller have the same sets, and an object has the
 * same sets from write to write, so half of a pod's JSON is neither parsed again nor written again.
 *
 * A set that is not used while a whole generation fills up is forgotten. A generation that is full takes no more sets until it
 * has lasted {@link MIN_GENERATION_MS}: remembering a set costs as much as parsing it, and the sets of a long list may all be
 * met only once.
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

  /** Remembered sets are frozen, because they become part of many objects. @throws SyntaxError */
  parse(text: string): FieldSet {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    const set = old ?? (parsePlainly(text) as unknown as FieldSet);
    // A substring holds the whole text in memory, so a copy is remembered instead.
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

/** The set that a text describes. Other objects may share it. @throws SyntaxError */
export const parseSet = (text: string): FieldSet => known.parse(text);

/** The text that a set was parsed from; undefined for a set that was not parsed. */
export const parsedTextOf = (set: object): string | undefined => known.textOf(set);

/**
 * The JSON of new sets that many objects share. It is half of a new pod's JSON and the same for all pods with the same fields;
 * writing it for each pod takes 17 of the 35 µs in which a pod becomes text. Undefined for a set so short that writing it is
 * as quick as inserting its text.
 */
const texts = new WeakMap<object, string | undefined>();
const MIN_CHARS = 1024;

/** For a set that several objects share. Most parts of a new set are known: pods differ in their metadata alone. */
export function shareText(set: FieldSet): void {
  if (texts.has(set)) return;
  const parts: string[] = [];
  for (const element in set) parts.push(`${JSON.stringify(element)}:${textOfPart(set[element] ?? LEAF)}`);
  rememberText(set, `{${parts.join(',')}}`);
}

function textOfPart(set: FieldSet): string {
  const known = texts.get(set);
  if (known !== undefined) return known;
  const text = JSON.stringify(set);
  rememberText(set, text);
  return text;
}

function rememberText(set: FieldSet, text: string): void {
  texts.set(set, text.length < MIN_CHARS ? undefined : text);
}

/** Undefined for a set without a remembered text. `set`: as an entry of metadata.managedFields has it. */
export const sharedTextOf = (set: object): string | undefined => texts.get(set);
