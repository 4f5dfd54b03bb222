import { type Body, type ItemList, writeItems } from '../../codec/chunks.ts';
import { encodeLine, type Form, type FormOptions, type Frames, type ListHead, type Stored } from './form.ts';
import type { Values } from './values.ts';

/** JSON of what is not stored as it is shown: conversions and views. */
export class ParsedForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #values: Values;

  constructor({ representation }: FormOptions, values: Values) {
    this.contentType = representation.contentType;
    this.#values = values;
    this.frames = {
      id: `json ${values.id}`,
      encode: ({ type, entry, revision }) =>
        encodeLine({ type, object: values.object({ json: entry.json, revision }) }),
      bookmark: (revision, initialEventsEnd) =>
        encodeLine({
          type: 'BOOKMARK',
          object: values.bookmark(revision, initialEventsEnd ? encodeLine : undefined),
        }),
    };
  }

  object(stored: Stored): Body {
    return { chunks: [encodeLine(this.#values.object(stored))] };
  }

  list(entries: readonly Stored[], head: ListHead): Promise<Body> {
    const values = this.#values;
    const open = JSON.stringify(values.list(head)).slice(0, -1);
    const list: ItemList<Stored, Buffer> = {
      head: Buffer.from(`${open},"${values.itemsField}":[`),
      tail: Buffer.from(']}\n'),
      separator: ',',
      items: entries,
      exact: false,
      estimateBytes: ({ json }) => json.length,
      make: (stored) => Buffer.from(JSON.stringify(values.item(stored))),
      boundBytes: (item) => item.length,
      write: (item, writer) => writer.bytes(item),
    };
    return writeItems(list);
  }
}
