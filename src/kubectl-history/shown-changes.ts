import type { JsonValue } from '../api/object-meta.ts';
import { toYamlText } from '../codec/yaml/scalar.ts';
import type { Change, Write } from './history-types.ts';
import { differences } from './line-differences.ts';
import type { Paint } from './screen.ts';
import { cutEnd, toShown, widthOf } from './shown-text.ts';

/**
 * Formats changes, one line per field:
 *
 *   ~ spec.replicas: 2 → 3
 *   + metadata.labels.tier: gold
 *   - spec.paused: true
 */

export interface ChangesLayout {
  readonly paint: Paint;
  readonly indent: number;
  /** Columns of the terminal, to which values are truncated. Undefined: unlimited. */
  readonly width: number | undefined;
  /** Most changes to show. */
  readonly most: number;
}

/** The heading reports creations and deletions, and each change of a spec raises the generation. */
const OMITTED_PATHS: ReadonlySet<string> = new Set(['', 'metadata.generation']);

/** Longer values are not compared. */
const LONGEST_TEXT = 10_000;

/** The truncated length of a value where lines may be long: a value may have a megabyte. */
const LONGEST_VALUE = 300;

/** On a narrow terminal, lines wrap rather than truncate values until the old and new look alike. */
const LEAST_ROOM = 44;
/** Characters of the common beginning that are shown of two truncated values. */
const SHOWN_PREFIX = 8;

export const mainChanges = ({ changes }: Write): readonly Change[] =>
  (changes ?? []).filter(({ path = '' }) => !OMITTED_PATHS.has(path));

export function toChanges(write: Write, layout: ChangesLayout): string {
  const changes = mainChanges(write);
  const shown = changes.slice(0, layout.most);
  const lines = shown.flatMap((change) => toLines(change, layout));
  const pad = ' '.repeat(layout.indent);
  const left = changes.length - shown.length;
  if (left > 0) lines.push(layout.paint('dim', `${pad}… ${left} more`));
  else if (write.changesTruncated === true) lines.push(layout.paint('dim', `${pad}… and more`));
  if (write.changesUnknown === true) {
    lines.push(layout.paint('dim', `${pad}(what it changed is not known: the state before it is gone)`));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function toLines(change: Change, layout: ChangesLayout): string[] {
  const { path = '', old, new: becomes, hidden } = change;
  const { paint, indent, width } = layout;
  const pad = ' '.repeat(indent);
  const name = toShown(path);
  if (hidden === true)
    return [`${pad}${paint('yellow', '~')} ${name}: ${paint('dim', '(changed; its value is not shown)')}`];
  if (isLong(old) || isLong(becomes)) return toBlock(change, layout);
  const room = width === undefined ? LONGEST_VALUE : Math.max(LEAST_ROOM, width - indent - name.length - 4);
  if (becomes === undefined) return [`${pad}${paint('red', `- ${name}: ${toValue(old, room)}`)}`];
  if (old === undefined) return [`${pad}${paint('green', `+ ${name}: ${toValue(becomes, room)}`)}`];
  const [was, is] = share(old, becomes, room - 3);
  return [`${pad}${paint('yellow', '~')} ${name}: ${paint('red', was)} → ${paint('green', is)}`];
}

/** Fits both values into the room; a short one leaves its room to the other. */
function share(old: JsonValue, becomes: JsonValue, room: number): [string, string] {
  const half = Math.floor(room / 2);
  const [was, is] = differing(toValue(old, LONGEST_TEXT), toValue(becomes, LONGEST_TEXT), room);
  return [
    cutEnd(was, Math.max(half, room - is.length)),
    cutEnd(is, Math.max(room - half, room - was.length)),
  ];
}

/** Two texts that are too wide together, from shortly before their difference. */
function differing(was: string, is: string, room: number): [string, string] {
  if (widthOf(was) + widthOf(is) <= room) return [was, is];
  let same = 0;
  while (same < was.length && was[same] === is[same]) same += 1;
  const from = same - SHOWN_PREFIX;
  if (from < SHOWN_PREFIX) return [was, is];
  const rest = (text: string): string => `…${text.slice(isTail(text, from) ? from + 1 : from)}`;
  return [rest(was), rest(is)];
}

/** Whether a cut at this place would split a surrogate pair. */
const isTail = (text: string, at: number): boolean => /[\udc00-\udfff]/.test(text.charAt(at));

const isLong = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && value.trimEnd().includes('\n');

/** Most lines shown of one value. */
const MOST_LINES = 16;

/** The differing lines of a multi-line text. */
function toBlock(
  { path = '', old, new: becomes }: Change,
  { paint, indent, width }: ChangesLayout,
): string[] {
  const pad = ' '.repeat(indent);
  const mark =
    becomes === undefined
      ? paint('red', '-')
      : old === undefined
        ? paint('green', '+')
        : paint('yellow', '~');
  const lines = differences(toText(old), toText(becomes), 1).flatMap((hunk) => hunk.lines);
  const room = (width ?? LONGEST_VALUE) - indent - 4;
  const shown = lines.slice(0, MOST_LINES).map((line) => {
    const text = cutEnd(toShown(line), Math.max(16, room));
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
    return `${pad}    ${paint(style, text)}`.trimEnd();
  });
  if (lines.length > MOST_LINES)
    shown.push(paint('dim', `${pad}    … ${lines.length - MOST_LINES} more lines`));
  return [`${pad}${mark} ${toShown(path)}:`, ...shown];
}

const toText = (value: JsonValue | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** A value on one line: a text as in YAML, objects and lists as JSON. */
export function toValue(value: JsonValue | undefined, room: number): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return cutEnd(toShown(JSON.stringify(value)), room);
  // Truncates before quoting.
  const text = value.length > 4 * room ? value.slice(0, 4 * room) : value;
  if (text.includes('\n')) return cutEnd(toShown(JSON.stringify(text)), room);
  return cutEnd(toShown(toYamlText(text, { indent: 0, column: Number.NEGATIVE_INFINITY })), room);
}
