import { toApiVersion } from '../../api/names.ts';
import { type Body, type ItemList, writeItems } from '../../codec/chunks.ts';
import { DerivedCache, type PackedPage, writePackable } from '../../codec/packed-pages.ts';
import { prettyBody } from '../../codec/pretty-json.ts';
import { HeadSplicer } from '../../codec/stored-object.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import {
  bookmarkObject,
  encodeLine,
  type Form,
  type FormOptions,
  type Frames,
  type ListHead,
  metadataEndOf,
  type OutputType,
  type Stored,
  toListMeta,
  versionLength,
  versionText,
} from './form.ts';
import { framesOf, type Values } from './values.ts';

type Bytes = Pick<Stored, 'json' | 'metadataEnd'>;

/** 10,000 pods of 7.7 kB are 5 MB packed. */
const packedObjects = new DerivedCache<PackedPage>(64 * 1024 * 1024);
const packedMetadata = new DerivedCache<PackedPage>(16 * 1024 * 1024);

const LIST_END = Buffer.from(']}\n');

/** JSON of whole objects, or of their metadata: the stored bytes with another head, unparsed. */
export class SplicedForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #splicer: HeadSplicer;
  /** For items of lists. */
  readonly #itemSplicer: HeadSplicer;
  readonly #output: OutputType;
  /** The text after the stored bytes. */
  readonly #end: string;

  constructor({ served, representation }: FormOptions, output: OutputType) {
    const { kind, storage } = served.definition;
    this.contentType = representation.contentType;
    this.#output = output;
    const stored = { kind, apiVersion: toApiVersion(storage) };
    this.#splicer = new HeadSplicer(stored, output);
    this.#itemSplicer = output.typedItems ? this.#splicer : new HeadSplicer(stored, undefined);
    this.#end = output.metadataOnly ? '}' : '';
    this.frames = {
      id: `json ${output.kind} ${output.apiVersion}`,
      encode: (event) => this.#frame(event),
      bookmark: (revision, initialEventsEnd) => {
        const encodeList = encodeLine;
        const object = bookmarkObject({ ...output, revision, isEnd: initialEventsEnd, encodeList });
        return encodeLine({ type: 'BOOKMARK', object });
      },
    };
  }

  object(stored: Stored): Body {
    return { chunks: [this.#between(stored, stored.revision, '', '\n')] };
  }

  list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    const splicer = this.#itemSplicer;
    const { listKind, apiVersion, metadataOnly } = this.#output;
    const meta = JSON.stringify(toListMeta(head));
    const open = `{"kind":"${listKind}","apiVersion":"${apiVersion}","metadata":${meta},"items":[`;
    const end = this.#end;
    const sizeOf = ({ json, revision }: Stored): number =>
      json.length - splicer.storedLength + splicer.headLength(versionLength(revision)) + end.length;
    const items: ItemList<Entry, Entry> = {
      head: Buffer.from(open),
      tail: LIST_END,
      separator: ',',
      items: entries,
      exact: !metadataOnly,
      estimateBytes: sizeOf,
      make: (stored) => stored,
      boundBytes: sizeOf,
      write: (stored, writer) => {
        writer.ascii(splicer.head(versionText(stored.revision)));
        writer.bytes(stored.json, splicer.storedLength, this.#endOf(stored));
        if (metadataOnly) writer.ascii(end);
      },
    };
    const pages = metadataOnly ? packedMetadata : packedObjects;
    return writePackable(items, { pages, form: this.frames.id, stateOf: (entry) => entry });
  }

  #frame({ type, entry, revision }: ObjectEvent): Buffer {
    return this.#between(entry, revision, `{"type":"${type}","object":`, '}\n');
  }

  #between(stored: Bytes, revision: Stored['revision'], before: string, after: string): Buffer {
    const { json } = stored;
    const { storedLength } = this.#splicer;
    const head = before + this.#splicer.head(versionText(revision));
    const tail = this.#end + after;
    const end = this.#endOf(stored);
    const length = end - storedLength;
    const bytes = Buffer.allocUnsafe(head.length + length + tail.length);
    bytes.write(head, 0, 'latin1');
    json.copy(bytes, head.length, storedLength, end);
    bytes.write(tail, head.length + length, 'latin1');
    return bytes;
  }

  #endOf(stored: Bytes): number {
    return this.#output.metadataOnly ? metadataEndOf(stored) : stored.json.length;
  }
}

/** A form of JSON with line breaks. Watches have none: a line break ends each frame. */
export class PrettyForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #compact: Form;

  constructor(compact: Form) {
    this.contentType = compact.contentType;
    this.frames = compact.frames;
    this.#compact = compact;
  }

  object(stored: Stored): Body {
    return prettyBody(this.#compact.object(stored));
  }

  async list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    return prettyBody(await this.#compact.list(entries, head));
  }

  first(frame: Buffer): Buffer {
    return this.#compact.first?.(frame) ?? frame;
  }
}

/** JSON of conversions and views, which differ from the stored bytes. */
export class ParsedForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #values: Values;

  constructor({ representation }: FormOptions, values: Values) {
    this.contentType = representation.contentType;
    this.#values = values;
    this.frames = framesOf(values, representation, encodeLine);
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
