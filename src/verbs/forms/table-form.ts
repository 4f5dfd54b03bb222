import { toApiVersion } from '../../api/names.ts';
import { type Body, ChunkWriter, type ItemList, writeAtOnce, writeItems } from '../../codec/chunks.ts';
import { DerivedCache } from '../../codec/packed-pages.ts';
import { HeadSplicer, parseStored } from '../../codec/stored-object.ts';
import { toDated, toUndated, UNDATED, type Undated } from '../../object/ages.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { Revision } from '../../storage/revision.ts';
import type { ObjectEvent } from '../../storage/store.ts';
import { mapInTurns } from '../../util/turns.ts';
import {
  bookmarkObject,
  encodeLine,
  type Form,
  type FormOptions,
  type Frames,
  type ListHead,
  metaApiVersion,
  metadataEndOf,
  noTimeOf,
  type Stored,
  servedApiVersion,
  toListMeta,
  toServed,
  versionText,
} from './form.ts';

const NO_COLUMNS = Buffer.from('"columnDefinitions":null');
const FRAME_END = ']}}\n';
const TABLE_END = Buffer.from(']}\n');

/** A row to write: its cells, and the object as text or as a part of the stored bytes. */
interface Row {
  readonly text: string;
  readonly json: Buffer | undefined;
  readonly from: number;
  readonly to: number;
  readonly end: string;
}

const textRow = (text: string): Row => ({ text, json: undefined, from: 0, to: 0, end: '}' });

/** UTF-8 takes up to three bytes for each UTF-16 code unit. */
const boundOf = ({ text, from, to, end }: Row): number => text.length * 3 + (to - from) + end.length;

function writeRow({ text, json, from, to, end }: Row, writer: ChunkWriter): void {
  writer.text(text);
  if (json !== undefined) writer.bytes(json, from, to);
  writer.ascii(end);
}

/** meta/v1 Table as JSON: a row for each object. Its cells are computed once per state of the object. */
export class TableForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #options: FormOptions;
  readonly #apiVersion: string;
  readonly #metadata: HeadSplicer;
  readonly #whole: HeadSplicer;

  constructor(options: FormOptions) {
    const { representation, dialect, includeObject, served } = options;
    const { kind, storage } = served.definition;
    this.#options = options;
    this.#apiVersion = metaApiVersion(options);
    const stored = { kind, apiVersion: toApiVersion(storage) };
    const shown = servedApiVersion(served, dialect);
    this.#metadata = new HeadSplicer(stored, { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion });
    this.#whole = new HeadSplicer(stored, { kind, apiVersion: shown });
    this.contentType = representation.contentType;
    this.frames = {
      // Cells contain ages of this moment: watchers share a frame only for the same change.
      id: `table ${this.#apiVersion} ${includeObject} ${shown}`,
      encode: (event) => this.#frame(event),
      bookmark: (revision, isEnd) => this.#bookmark(revision, isEnd),
    };
  }

  object(stored: Stored): Body {
    const meta = { resourceVersion: versionText(stored.revision) };
    return writeAtOnce(this.#table([stored], this.#head(meta, this.#columns())), stored.json.length);
  }

  async list(entries: readonly Stored[], head: ListHead): Promise<Body> {
    const { rank } = this.#options.served.definition;
    const shown = rank === undefined ? entries : await ranked(entries, rank);
    return writeItems(this.#table(shown, this.#head(toListMeta(head), this.#columns())));
  }

  /** Removes the column definitions from frames after the first. */
  first(frame: Buffer): Buffer {
    const at = frame.indexOf(NO_COLUMNS);
    if (at < 0) return frame;
    const columns = Buffer.from(`"columnDefinitions":${this.#columns()}`);
    return Buffer.concat([frame.subarray(0, at), columns, frame.subarray(at + NO_COLUMNS.length)]);
  }

  #columns(): string {
    return JSON.stringify(this.#options.served.definition.columns);
  }

  #head(meta: object, columns: string): string {
    return `{"kind":"Table","apiVersion":"${this.#apiVersion}","metadata":${JSON.stringify(meta)},"columnDefinitions":${columns},"rows":[`;
  }

  #table(entries: readonly Stored[], head: string): ItemList<Stored, Row> {
    const now = this.#options.now();
    return {
      head: Buffer.from(head),
      tail: TABLE_END,
      separator: ',',
      items: entries,
      exact: false,
      estimateBytes: ({ json }) => json.length,
      make: (stored) => this.#row(stored, stored, now),
      boundBytes: boundOf,
      write: writeRow,
    };
  }

  #frame({ type, entry, revision }: ObjectEvent): Buffer {
    const head = this.#head({ resourceVersion: versionText(revision) }, 'null');
    const row = this.#row(entry, { json: entry.json, revision }, this.#options.now());
    const open = `{"type":"${type}","object":${head}`;
    const writer = new ChunkWriter(open.length + boundOf(row) + FRAME_END.length, { reuses: false });
    writer.ascii(open);
    writeRow(row, writer);
    writer.ascii(FRAME_END);
    // The bound assumed non-ASCII text; a frame may wait for its watchers, so it is copied to its size.
    return Buffer.from(writer.filled());
  }

  #row(key: Pick<Stored, 'json' | 'metadataEnd'>, stored: Stored, now: number): Row {
    const { served, includeObject } = this.#options;
    const { storedLength } = this.#metadata;
    const row = rowOf(key, stored.json, served.definition);
    const cells = `{"cells":${cellsAt(row, stored, now)}`;
    const version = versionText(stored.revision);
    switch (includeObject) {
      case 'None':
        return textRow(cells);
      case 'Object': {
        if (served.version.conversion !== undefined) {
          return textRow(`${cells},"object":${JSON.stringify(toServed(stored, this.#options))}`);
        }
        const text = `${cells},"object":${this.#whole.head(version)}`;
        return { text, json: stored.json, from: storedLength, to: stored.json.length, end: '}' };
      }
      default: {
        const text = `${cells},"object":${this.#metadata.head(version)}`;
        return { text, json: stored.json, from: storedLength, to: metadataEndOf(key), end: '}}' };
      }
    }
  }

  #bookmark(revision: Revision, isEnd: boolean): Buffer {
    const { served, dialect } = this.#options;
    const { kind, columns } = served.definition;
    const apiVersion = servedApiVersion(served, dialect);
    const noTime = noTimeOf(this.#options, 'object');
    const object = bookmarkObject({ kind, apiVersion, noTime, revision, isEnd });
    const table = {
      kind: 'Table',
      apiVersion: this.#apiVersion,
      metadata: { resourceVersion: versionText(revision) },
      columnDefinitions: null,
      rows: [{ cells: columns.map(() => null), object }],
    };
    return encodeLine({ type: 'BOOKMARK', object: table });
  }
}

async function ranked(
  entries: readonly Stored[],
  rank: NonNullable<ResourceDefinition['rank']>,
): Promise<Stored[]> {
  const ranks = await mapInTurns(entries, (entry) => ({ entry, rank: rank(parseStored(entry.json)) }));
  return ranks.sort((one, other) => one.rank - other.rank).map(({ entry }) => entry);
}

/** The cells of an object in one state, for any moment. */
interface TableRow {
  readonly definition: ResourceDefinition;
  /** JSON of the cells; undefined when they depend on the time in other ways than by ages. */
  readonly cells: Undated | undefined;
  readonly sizeBytes: number;
}

/** Parsing a pod of 7.7 kB for its cells takes 60 µs, filling ages into cached cells less than 1. */
const MAX_ROWS_BYTES = 32 * 1024 * 1024;
const rows = new DerivedCache<TableRow>(MAX_ROWS_BYTES);
/** Bytes of a row besides its text. */
const OVERHEAD_BYTES = 200;

/** `key`: an object that lives as long as this state. */
function rowOf(key: object, json: Buffer, definition: ResourceDefinition): TableRow {
  const known = rows.get(key);
  if (known !== undefined && known.definition === definition) return known;
  const row = makeRow(json, definition);
  rows.set(key, row);
  return row;
}

function makeRow(json: Buffer, definition: ResourceDefinition): TableRow {
  const object = parseStored(json);
  const text = JSON.stringify(definition.cells(object, UNDATED));
  const undated = toUndated(text);
  // A definition may format times in its own way, which only a real time reveals.
  const now = Date.now();
  const isTrue = toDated(undated, now) === JSON.stringify(definition.cells(object, now));
  return {
    definition,
    cells: isTrue ? undated : undefined,
    sizeBytes: OVERHEAD_BYTES + text.length,
  };
}

/** JSON of the cells at a moment. */
function cellsAt(row: TableRow, stored: Stored, now: number): string {
  if (row.cells !== undefined) return toDated(row.cells, now);
  return JSON.stringify(row.definition.cells(parseStored(stored.json, versionText(stored.revision)), now));
}
