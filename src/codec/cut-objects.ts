/**
 * Returns a JSON text without the content of the objects under a key, for readers of the rest of a document. The definition of
 * a custom resource has 100 kB, of which 99 are schemas. Finding their ends takes half the time of parsing them (70 ms for 83
 * MB), and avoids garbage whose collection takes longer than both.
 *
 *   cutObjects('{"a":1,"key":{"b":{}},"c":2}', 'key') → '{"a":1,"key":{},"c":2}'
 */
export function cutObjects(json: Buffer, key: string): Buffer {
  // Inside a string its quotes would be escaped, so this is a key wherever it is found.
  const mark = Buffer.from(`"${key}":{`);
  const pieces: Buffer[] = [];
  let copied = 0;
  for (let found = json.indexOf(mark); found >= 0; found = json.indexOf(mark, copied)) {
    const begin = found + mark.length;
    pieces.push(json.subarray(copied, begin));
    copied = endOfObject(json, begin);
  }
  return pieces.length === 0 ? json : Buffer.concat([...pieces, json.subarray(copied)]);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** The position of the closing brace of the object whose content begins at `from`. */
function endOfObject(json: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === OPENING) depth += 1;
    else if (byte === CLOSING) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return json.length;
}

function endOfString(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
