import { isRecord, type Json, type JsonObject } from './api-object.ts';
import { hasUnseen } from './text.ts';

/** Lines of YAML. Each has its colours, and the path of its field for blame. */
export interface Line {
  readonly tokens: readonly Token[];
  /** The field whose value is on this line; undefined on lines that only contain others. */
  readonly path: string | undefined;
}

export interface Token {
  readonly kind: 'key' | 'text' | 'number' | 'word' | 'mark';
  readonly text: string;
}

/** Names the elements of a list, `[name=web]`, as the paths of blame do. */
export type NameElement = (listPath: string, element: Json, index: number) => string;

const BY_PLACE: NameElement = (_, __, index) => `[${index}]`;

export function toLines(value: Json, nameElement: NameElement = BY_PLACE): Line[] {
  const writer = new Writer(nameElement);
  writer.value(value, { indent: '', path: '', lead: [] });
  return writer.lines;
}

export const lineText = ({ tokens }: Line): string => tokens.map(({ text }) => text).join('');

export const toYaml = (value: Json): string => `${toLines(value).map(lineText).join('\n')}\n`;

interface Place {
  readonly indent: string;
  readonly path: string;
  /** The text before the value in its first line: the key, or the dash of a list. */
  readonly lead: readonly Token[];
}

class Writer {
  readonly lines: Line[] = [];
  readonly #nameElement: NameElement;

  constructor(nameElement: NameElement) {
    this.#nameElement = nameElement;
  }

  value(value: Json, place: Place): void {
    if (Array.isArray(value) && value.length > 0) this.#list(value, place);
    else if (isRecord(value) && Object.keys(value).length > 0) this.#map(value, place);
    else this.#scalar(value, place);
  }

  /** Elements are indented like their key, as in kubectl. A list of other values than objects is one field for blame. */
  #list(list: readonly Json[], { indent, path, lead }: Place): void {
    if (lead.length > 0 && !endsInDash(lead)) this.lines.push({ tokens: trimmed(lead), path: undefined });
    const isOneField = !list.every(isRecord);
    for (const [index, element] of list.entries()) {
      const own = isOneField ? path : path + this.#nameElement(path, element, index);
      const first = index === 0 && endsInDash(lead) ? lead : [mark(indent)];
      this.value(element, { indent: `${indent}  `, path: own, lead: [...first, mark('- ')] });
    }
  }

  #map(map: JsonObject, { indent, path, lead }: Place): void {
    const inDash = endsInDash(lead);
    if (lead.length > 0 && !inDash) this.lines.push({ tokens: trimmed(lead), path: undefined });
    let isFirst = true;
    for (const [key, value] of Object.entries(map)) {
      if (value === undefined) continue;
      const before = inDash && isFirst ? lead : indent === '' ? [] : [mark(indent)];
      isFirst = false;
      const isParent = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
      this.value(value, {
        indent: isParent && !Array.isArray(value) ? `${indent}  ` : indent,
        path: pathOf(path, key),
        lead: [...before, { kind: 'key', text: quotedWhereNeeded(key) }, mark(': ')],
      });
    }
  }

  #scalar(value: Json, { indent, path, lead }: Place): void {
    if (typeof value === 'string' && isBlock(value)) this.#block(value, { indent, path, lead });
    else this.lines.push({ tokens: [...lead, scalarToken(value)], path });
  }

  #block(text: string, { indent, path, lead }: Place): void {
    const chomp = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
    this.lines.push({ tokens: [...lead, mark(`|${chomp}`)], path });
    const deeper = endsInDash(lead) ? indent : `${indent}  `;
    const body = text.endsWith('\n') ? text.slice(0, -1) : text;
    for (const line of body.split('\n'))
      this.lines.push({ tokens: line === '' ? [] : [mark(deeper), { kind: 'text', text: line }], path });
  }
}

const mark = (text: string): Token => ({ kind: 'mark', text });

const endsInDash = (lead: readonly Token[]): boolean => lead.at(-1)?.text === '- ';

/** `key: ` ends without its space where the value begins on the next line. */
const trimmed = (lead: readonly Token[]): Token[] => [...lead.slice(0, -1), mark(':')];

/** Forms paths as changes and blame do: plain names after a dot, others in brackets. */
const pathOf = (parent: string, name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)
    ? parent === ''
      ? name
      : `${parent}.${name}`
    : `${parent}[${JSON.stringify(name)}]`;

function scalarToken(value: Json): Token {
  if (typeof value === 'string') return { kind: 'text', text: quotedWhereNeeded(value) };
  if (typeof value === 'number') return { kind: 'number', text: String(value) };
  if (typeof value === 'boolean' || value === null) return { kind: 'word', text: String(value) };
  return mark(Array.isArray(value) ? '[]' : '{}');
}

/** Whether a text has several lines and no invisible characters. */
const isBlock = (text: string): boolean =>
  text.includes('\n') && !/^[\n ]|^\t/.test(text) && !hasUnseen(text.replace(/[\n\t]/g, ''));

/** Text that YAML cannot misread as a number, a date, a keyword (also of YAML 1.1) or a mark. */
const PLAIN = /^[A-Za-z0-9_./$(\u00a1-\ud7ff\ue000-\ufffd][^\n\r\t]*$/u;
const OTHER_THAN_TEXT =
  /^(true|false|yes|no|on|off|y|n|null|~|\.nan|[-+]?\.inf)$|^[-+.]?\d[\d_]*$|^[-+]?(\d[\d_]*)?\.?\d*(e[-+]?\d+)?$|^0[xob][\da-f_]+$|^\d{4}-\d{1,2}-\d{1,2}|^[-+]?\d+(:\d+)+(\.\d*)?$/i;

function quotedWhereNeeded(text: string): string {
  const isPlain =
    PLAIN.test(text) &&
    !OTHER_THAN_TEXT.test(text) &&
    !/: |:$| #|\s$/.test(text) &&
    !/^(---|\.\.\.)/.test(text) &&
    !hasUnseen(text);
  return isPlain ? text : quoted(text);
}

/** Quotes as JSON does, and also escapes invisible characters. */
function quoted(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code > 0x7e && hasUnseen(char))
      out +=
        code > 0xffff
          ? `\\U${code.toString(16).padStart(8, '0')}`
          : `\\u${code.toString(16).padStart(4, '0')}`;
    else out += JSON.stringify(char).slice(1, -1);
  }
  return `${out}"`;
}
