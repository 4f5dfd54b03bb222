import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { Pace } from '../util/end-turn.ts';

/** How deep objects are taken apart: down to single paths and definitions. */
const DEPTH = 3;

/** JSON of a document of some megabytes, with turns for others in between. */
export async function toJsonInTurns(document: JsonObject): Promise<Buffer> {
  const pace = new Pace(1);
  const pieces: Buffer[] = [];
  for (const part of partsOf(document, DEPTH)) {
    if (pace.isOver()) await pace.rest();
    pieces.push(Buffer.from(part));
  }
  return Buffer.concat(pieces);
}

function* partsOf(value: JsonValue, depth: number): Iterable<string> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let open = '{';
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    yield `${open}${JSON.stringify(name)}:`;
    yield* partsOf(item, depth - 1);
    open = ',';
  }
  yield open === '{' ? '{}' : '}';
}
