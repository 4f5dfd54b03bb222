import { joinPath, MAX_PROBLEMS } from '../object/document-limits.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** An object or list that is open. */
interface Frame {
  readonly path: string;
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  index: number;
  key: string;
}

/**
 * Walks valid JSON and names each field seen twice, every path once and {@link MAX_PROBLEMS} of them (Kubernetes:
 * sigs.k8s.io/json, saveStrictError). Only for documents that seem to have one.
 */
export function findRepeatedKeys(json: Buffer): string[] {
  const found = new Set<string>();
  const frames: Frame[] = [];
  for (let at = 0; at < json.length && found.size < MAX_PROBLEMS; at += 1) {
    const frame = frames.at(-1);
    switch (json[at]) {
      case QUOTE: {
        const end = endOfString(json, at + 1);
        if (frame?.keys !== undefined && isKey(json, end + 1)) noteKey(frame, keyOf(json, at, end), found);
        at = end;
        break;
      }
      case COMMA:
        if (frame !== undefined) frame.index += 1;
        break;
      case OPEN_OBJECT:
        frames.push({ path: pathOf(frame), keys: new Set(), index: 0, key: '' });
        break;
      case OPEN_LIST:
        frames.push({ path: pathOf(frame), keys: undefined, index: 0, key: '' });
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        frames.pop();
        break;
      default:
    }
  }
  return [...found];
}

function noteKey(frame: Frame, key: string, found: Set<string>): void {
  frame.key = key;
  if (frame.keys?.has(key) === true) found.add(pathOf(frame));
  frame.keys?.add(key);
}

/** Of what the frame is at: `spec.containers[0].image`. */
function pathOf(frame: Frame | undefined): string {
  if (frame === undefined) return '';
  const { path, keys, index, key } = frame;
  if (keys === undefined) return joinPath(path, `[${index}]`);
  return joinPath(path, path === '' ? key : `.${key}`);
}

function keyOf(json: Buffer, from: number, end: number): string {
  const text = json.toString('utf8', from + 1, end);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

function endOfString(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Whether a colon is next. */
function isKey(json: Buffer, from: number): boolean {
  let at = from;
  while (isSpace(json[at])) at += 1;
  return json[at] === COLON;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
