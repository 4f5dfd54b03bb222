/**
 * Parts of an object's metadata, read from its stored bytes without parsing the object: selectors look at all objects of a
 * resource, and parsing one of 7.7 kB takes 50 µs where finding its labels takes 1.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const METADATA = Buffer.from('"metadata":{');

/** The JSON text of a field of metadata; undefined when it is absent. */
export function readMetadataField(json: Buffer, name: string): string | undefined {
  // Only kind and apiVersion stand before metadata, so the first match is the right one.
  const found = json.indexOf(METADATA);
  if (found < 0) return undefined;
  let at = found + METADATA.length;
  while (json[at] === QUOTE) {
    const keyEnd = skipString(json, at);
    const valueEnd = skipValue(json, keyEnd + 1);
    if (isKey(json, at + 1, keyEnd - 1, name)) return json.toString('utf8', keyEnd + 1, valueEnd);
    if (json[valueEnd] !== COMMA) return undefined;
    at = valueEnd + 1;
  }
  return undefined;
}

function isKey(json: Buffer, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) if (json[from + at] !== name.charCodeAt(at)) return false;
  return true;
}

/** Behind the string that begins here. */
function skipString(json: Buffer, from: number): number {
  let at = from + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** Behind the value that begins here. */
function skipValue(json: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = skipString(json, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
    at += 1;
  }
  return at;
}

/** Where the metadata of an object in stored form ends, its closing brace included. */
export const findMetadataEnd = (json: Buffer): number => skipValue(json, findMetadata(json));

/** Where the metadata begins, with its opening brace. */
export const findMetadata = (json: Buffer): number => json.indexOf(METADATA) + METADATA.length - 1;
