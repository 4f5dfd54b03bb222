import { joinPath, MAX_PROBLEMS } from '../object/document-limits.ts';
import { goQuote } from '../object/go-value.ts';

/**
 * Walks valid JSON field by field, in the order of its bytes, which JSON.parse does not keep: for documents that seem to have
 * a problem.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LINE_FEED = 0x0a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** An object or list that is open. */
interface Frame {
  readonly path: string;
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  /** It stands in an unknown field: nothing in it is a problem of its own. */
  readonly isUnknown: boolean;
  index: number;
  key: string;
  /** The value of `key` is that of an unknown field. */
  keyIsUnknown: boolean;
  /** Where the value of `key` begins, if the object has had the key before. */
  repeatedAt: number | undefined;
}

interface FieldVisitor {
  /** Called for every key, before its value. */
  field?(frame: Frame): void;
  /** Called after every value of an object. */
  end?(frame: Frame): void;
  /** Whether the rest of the document does not matter. */
  isFull(): boolean;
}

/** Names each field seen twice, every path once (Kubernetes: sigs.k8s.io/json, saveStrictError). */
export function findRepeatedKeys(json: Buffer): string[] {
  const found = new Set<string>();
  walk(json, {
    field: (frame) => {
      if (frame.repeatedAt !== undefined) found.add(pathOf(frame));
    },
    isFull: () => found.size >= MAX_PROBLEMS,
  });
  return [...found];
}

/**
 * The problems of strict decoding, in the order of the document and each once. Nothing in an unknown field is another problem,
 * and an unknown field may be repeated: Kubernetes skips its value (sigs.k8s.io/json, decodeState.object).
 * @param unknown the paths of unknown fields
 */
export function strictProblems(json: Buffer, unknown: readonly string[]): string[] {
  const paths = new Set(unknown);
  const found = new Set<string>();
  walk(json, {
    field: (frame) => {
      if (frame.isUnknown) return;
      const path = pathOf(frame);
      frame.keyIsUnknown = paths.has(path);
      if (frame.keyIsUnknown) found.add(unknownField(path));
      else if (frame.repeatedAt !== undefined) found.add(`duplicate field "${path}"`);
    },
    isFull: () => found.size >= MAX_PROBLEMS,
  });
  // A path that was cut may not be found.
  for (const path of unknown) if (found.size < MAX_PROBLEMS) found.add(unknownField(path));
  return [...found];
}

export const unknownField = (path: string): string => `unknown field "${path}"`;

/**
 * Sorts the paths of fields as a document with sorted keys has them: Kubernetes converts YAML and the results of patches to
 * such JSON before it looks for unknown fields.
 */
export function inOrderOfKeys(paths: readonly string[]): readonly string[] {
  if (paths.length < 2) return paths;
  const split = paths.map((path) => ({ path, steps: path.split(/\.|(?=\[)/) }));
  return split.sort((one, other) => compareSteps(one.steps, other.steps)).map(({ path }) => path);
}

function compareSteps(one: readonly string[], other: readonly string[]): number {
  for (const [at, step] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    if (step === against) continue;
    const [index, otherIndex] = [step, against].map((text) => Number(/^\[(\d+)\]$/.exec(text)?.[1]));
    const difference = (index ?? 0) - (otherIndex ?? 0);
    if (!Number.isNaN(difference)) return difference;
    return step < against ? -1 : 1;
  }
  return one.length - other.length;
}

/**
 * Repeated keys of JSON that was sent as YAML, in the words for YAML, with the line of the second value (go-yaml 2,
 * setMapIndex). Problems inside a value come before its key.
 */
export function repeatedKeyLines(json: Buffer): string[] {
  const found: string[] = [];
  const lineOf = countLines(json);
  walk(json, {
    end: ({ repeatedAt, key }) => {
      if (repeatedAt === undefined || found.length >= MAX_PROBLEMS) return;
      found.push(`line ${lineOf(repeatedAt)}: key ${goQuote(key)} already set in map`);
    },
    isFull: () => found.length >= MAX_PROBLEMS,
  });
  return found;
}

/** Finds the line of an offset, and counts from the offset that was asked for before: a document may be nothing but lines. */
function countLines(json: Buffer): (offset: number) => number {
  let known = 0;
  let line = 1;
  return (offset) => {
    for (let at = known; at < offset; at += 1) if (json[at] === LINE_FEED) line += 1;
    for (let at = offset; at < known; at += 1) if (json[at] === LINE_FEED) line -= 1;
    known = offset;
    return line;
  };
}

function walk(json: Buffer, visitor: FieldVisitor): void {
  const frames: Frame[] = [];
  for (let at = 0; at < json.length && !visitor.isFull(); at += 1) {
    const frame = frames.at(-1);
    const byte = json[at];
    switch (byte) {
      case QUOTE: {
        const end = endOfString(json, at + 1);
        const colon = frame?.keys === undefined ? -1 : colonAfter(json, end + 1);
        if (frame !== undefined && colon >= 0) {
          enterField(frame, keyOf(json, at, end), colon, json);
          visitor.field?.(frame);
        }
        at = end;
        break;
      }
      case COMMA:
        if (frame === undefined) break;
        frame.index += 1;
        if (frame.keys !== undefined) visitor.end?.(frame);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        frames.push(openFrame(frame, byte === OPEN_OBJECT));
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (frame?.keys !== undefined && frame.keys.size > 0) visitor.end?.(frame);
        frames.pop();
        break;
      default:
    }
  }
}

const openFrame = (around: Frame | undefined, isObject: boolean): Frame => ({
  path: pathOf(around),
  keys: isObject ? new Set() : undefined,
  isUnknown: around !== undefined && (around.isUnknown || around.keyIsUnknown),
  index: 0,
  key: '',
  keyIsUnknown: false,
  repeatedAt: undefined,
});

function enterField(frame: Frame, key: string, colon: number, json: Buffer): void {
  frame.key = key;
  frame.keyIsUnknown = false;
  frame.repeatedAt = frame.keys?.has(key) === true ? afterSpace(json, colon + 1) : undefined;
  frame.keys?.add(key);
}

/** The path of the frame's value: `spec.containers[0].image`. */
function pathOf(frame: Frame | undefined): string {
  if (frame === undefined) return '';
  const { path, keys, index, key } = frame;
  if (keys === undefined) return joinPath(path, `[${index}]`);
  return joinPath(path, path === '' ? key : `.${key}`);
}

function keyOf(json: Buffer, from: number, end: number): string {
  const text = json.toString('utf8', from + 1, end);
  return text.includes('\\') ? JSON.parse(`"${text}"`) : text;
}

/** The closing quote of a string whose text begins at `from`. */
export function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The colon that is next; -1 where something else is. */
function colonAfter(json: Buffer, from: number): number {
  const at = afterSpace(json, from);
  return json[at] === COLON ? at : -1;
}

function afterSpace(json: Buffer, from: number): number {
  let at = from;
  while (isSpace(json[at])) at += 1;
  return at;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d;
