import type { JsonObject } from '../../api/object-meta.ts';
import { type Body, sumBytes } from '../../codec/chunks.ts';
import { toYaml, toYamlItem, yamlItemParts, yamlParts } from '../../codec/yaml/emitter.ts';
import type { Form, FormOptions, Frames, ListHead, Stored } from './form.ts';
import { converted, framesOf, LARGE_BYTES, type Values } from './values.ts';

/** Characters per chunk. */
const PIECE_CHARACTERS = 64 * 1024;

/** Writes YAML, one item after the other. */
export class YamlForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #values: Values;

  constructor({ representation }: FormOptions, values: Values) {
    this.contentType = representation.contentType;
    this.#values = values;
    this.frames = framesOf(values, representation, toBytes);
  }

  object(stored: Stored): Body {
    if (stored.json.length <= LARGE_BYTES)
      return { chunks: [Buffer.from(toYaml(this.#values.object(stored)))] };
    return { chunks: [], rest: piecesOf(this.#largeParts(stored, 'object')) };
  }

  async list(entries: readonly Stored[], head: ListHead): Promise<Body> {
    const { itemsField } = this.#values;
    const list = this.#values.list(head);
    if (entries.length === 0) return { chunks: [Buffer.from(toYaml({ ...list, [itemsField]: [] }))] };
    const [before, after] = around(list, itemsField);
    const pieces = piecesOf(this.#listParts(before, entries, after));
    const sizeBytes = await sumBytes(entries, ({ json }) => json.length);
    return sizeBytes <= LARGE_BYTES ? { chunks: [...pieces] } : { chunks: [], rest: pieces };
  }

  *#listParts(before: string, entries: readonly Stored[], after: string): Iterable<string> {
    yield before;
    for (const stored of entries) {
      if (stored.json.length > LARGE_BYTES) yield* this.#largeParts(stored, 'item');
      else yield toYamlItem(this.#values.item(stored));
    }
    yield after;
  }

  *#largeParts(stored: Stored, as: 'object' | 'item'): Iterable<string> {
    const value = yield* converted(this.#values, stored, as, '');
    yield* as === 'object' ? yamlParts(value) : yamlItemParts(value);
  }
}

const toBytes = (list: JsonObject): Buffer => Buffer.from(toYaml(list));

/** The text before the items, with their key, and after them: keys are sorted. */
function around(list: JsonObject, itemsField: string): [before: string, after: string] {
  const keys = Object.keys(list);
  const pick = (chosen: readonly string[]): string =>
    chosen.length === 0 ? '' : toYaml(Object.fromEntries(chosen.map((key) => [key, list[key]])));
  const before = pick(keys.filter((key) => key < itemsField));
  return [`${before}${itemsField}:\n`, pick(keys.filter((key) => key > itemsField))];
}

/** Joins parts to chunks; an empty part is a pause, and yields an empty chunk. */
function* piecesOf(parts: Iterable<string>): Iterable<Buffer> {
  let text = '';
  for (const part of parts) {
    text += part;
    if (part !== '' && text.length < PIECE_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
