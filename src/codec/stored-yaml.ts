import type { ApiObject } from '../api/object-meta.ts';
import { isObject } from '../object/json-values.ts';
import { toStoredJson } from './stored-object.ts';
import { parseYamlText } from './yaml-text.ts';

/**
 * Writes stored objects as YAML: one line per field, with its value in flow style, like JSON. Every parser reads it as YAML
 * 1.2, people can read and compare it, SQL can take it apart (readable_object, in migrations/), and numbers keep their digits.
 *
 *     kind: "ConfigMap"
 *     apiVersion: "v1"
 *     metadata: {"name":"web","namespace":"default"}
 *     data: {"a":"1"}
 */
export function toStoredYaml(json: Buffer): Buffer {
  const lines = fieldsOf(json.toString()).map(([key, value]) => `${toKey(key)}: ${value}\n`);
  return Buffer.from(lines.join(''));
}

/** Also reads YAML that was edited into other styles. @throws SyntaxError */
export function fromStoredYaml(yaml: Buffer): Buffer {
  const text = joinFields(yaml.toString());
  if (text !== undefined) return Buffer.from(text);
  const { value } = parseYamlText(yaml);
  if (!isObject(value) || !isObject(value.metadata)) throw new SyntaxError('it is no object in YAML');
  // Kinds and names are checked where objects are written.
  return toStoredJson(value as unknown as ApiObject);
}

const PLAIN = /^"([A-Za-z][A-Za-z0-9]*)"$/;

const toKey = (key: string): string => PLAIN.exec(key)?.[1] ?? key;

const FIELD = /^(?:([A-Za-z][A-Za-z0-9]*)|("(?:[^"\\]|\\.)*")): (.*)$/;

/** The beginning of every stored object. */
const HEAD = /^\{"kind":"[^"]*","apiVersion":"[^"]*","metadata":\{/;

/** Undefined when it is in another style. */
function joinFields(text: string): string | undefined {
  const fields: string[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const [, plain, quoted, value = ''] = FIELD.exec(line) ?? [];
    const key = quoted ?? (plain === undefined ? undefined : `"${plain}"`);
    if (key === undefined) return undefined;
    fields.push(`${key}:${value}`);
  }
  const json = `{${fields.join(',')}}`;
  return HEAD.test(json) && isJson(json) ? json : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The fields of a compact JSON object, keys and values as they are written. */
function fieldsOf(json: string): [key: string, value: string][] {
  const fields: [string, string][] = [];
  const last = json.length - 1;
  let depth = 0;
  let from = 1;
  let colon = 0;
  for (let at = 1; at <= last; at += 1) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(json, at);
        if (depth === 0 && colon < from) colon = at + 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
        if (depth > 0) break;
        fields.push([json.slice(from, colon), json.slice(colon + 1, at)]);
        from = at + 1;
        break;
    }
  }
  if (from < last) fields.push([json.slice(from, colon), json.slice(colon + 1, last)]);
  return fields;
}

/** The quote that ends a text. One behind an odd number of backslashes belongs to it. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slashes = 0;
    while (json.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  throw new SyntaxError('a text does not end');
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
