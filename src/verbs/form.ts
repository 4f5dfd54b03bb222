import { type Dialect, dialectApiVersion, dialectGroup } from '../api/dialect.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { ChunkWriter } from '../codec/chunks.ts';
import { encodeFrame, encodeValue } from '../codec/encode.ts';
import type { Representation } from '../codec/negotiate.ts';
import { HeadSplicer, parseStored } from '../codec/stored-object.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import type { ServedResource } from '../registry/registry.ts';
import { type Revision, toResourceVersion } from '../storage/revision.ts';
import type { FrameEncoder, WatchEvent } from '../storage/store.ts';

/** A stored object's bytes and the revision they have. */
export interface Stored {
  readonly json: Buffer;
  readonly revision: Revision | undefined;
}

export interface ListHead {
  readonly resourceVersion: string;
  readonly continue: string;
  readonly remainingItemCount: number | undefined;
}

/**
 * How objects of one resource are shown to one kind of client. A form depends on the resource, the representation asked for
 * and the dialect only, never on the request, so watchers with the same form share frames.
 */
export interface Form {
  readonly contentType: string;
  object(stored: Stored): Buffer[];
  list(entries: readonly Stored[], head: ListHead): Buffer[];
  readonly frames: FrameEncoder;
  /** What the first frame of a watch has more than those after it, put in. */
  first?(frame: Buffer): Buffer;
}

export interface FormOptions {
  readonly served: ServedResource;
  readonly types: TypeLibrary;
  readonly representation: Representation;
  readonly dialect: Dialect;
  /** includeObject of tables. */
  readonly includeObject: string;
  readonly view?: ViewSubresource;
  readonly now: () => number;
}

export function createForm(options: FormOptions): Form {
  const { served, representation, view } = options;
  const plain = served.version.conversion === undefined && (view === undefined || view.name === 'status');
  const json = representation.format === 'json' && !representation.pretty;
  if (representation.as === 'table') return new TableForm(options);
  if (representation.as === 'object' && plain && json) return new SplicedForm(options);
  return new ParsedForm(options);
}

function servedApiVersion({ definition, version }: ServedResource, dialect: Dialect): string {
  return dialectApiVersion(toApiVersion({ group: definition.group, version: version.version }), dialect);
}

const toListMeta = ({ resourceVersion, continue: token, remainingItemCount }: ListHead): JsonObject => ({
  resourceVersion,
  ...(token === '' ? {} : { continue: token }),
  ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
});

/** JSON of whole objects: the stored bytes with another head. Nothing is parsed. */
class SplicedForm implements Form {
  readonly contentType = 'application/json';
  readonly frames: FrameEncoder;
  readonly #splicer: HeadSplicer;
  readonly #kind: string;
  readonly #listKind: string;
  readonly #apiVersion: string;

  constructor({ served, dialect }: FormOptions) {
    const { definition } = served;
    this.#kind = definition.kind;
    this.#listKind = definition.listKind;
    this.#apiVersion = servedApiVersion(served, dialect);
    const { group, version } = definition.storage;
    this.#splicer = new HeadSplicer(definition.kind, toApiVersion({ group, version }), this.#apiVersion);
    this.frames = {
      id: `json ${this.#apiVersion}`,
      encode: (event) => this.#frame(event),
      bookmark: (revision, end) => encodeLine(bookmarkOf(this.#kind, this.#apiVersion, revision, end)),
    };
  }

  object({ json, revision }: Stored): Buffer[] {
    const version = revision === undefined ? undefined : toResourceVersion(revision);
    return [...this.#splicer.splice(json, version), NEWLINE];
  }

  list(entries: readonly Stored[], head: ListHead): Buffer[] {
    const writer = new ChunkWriter();
    const meta = JSON.stringify(toListMeta(head));
    writer.text(
      `{"kind":"${this.#listKind}","apiVersion":"${this.#apiVersion}","metadata":${meta},"items":[`,
    );
    const skipped = this.#splicer.storedLength;
    for (const [at, { json, revision }] of entries.entries()) {
      if (at > 0) writer.text(',');
      writer.text(this.#splicer.head(versionText(revision)));
      writer.bytes(json, skipped);
    }
    writer.text(']}\n');
    return writer.finish();
  }

  #frame({ type, entry, revision }: WatchEvent): Buffer {
    const head = `{"type":"${type}","object":${this.#splicer.head(versionText(revision))}`;
    const rest = entry.json.length - this.#splicer.storedLength;
    const frame = Buffer.allocUnsafeSlow(head.length + rest + 2);
    frame.write(head, 0, 'latin1');
    entry.json.copy(frame, head.length, this.#splicer.storedLength);
    frame.write('}\n', head.length + rest, 'latin1');
    return frame;
  }
}

const NO_COLUMNS = Buffer.from('"columnDefinitions":null');
const NEWLINE = Buffer.from('\n');
const versionText = (revision: Revision | undefined): string =>
  revision === undefined ? '' : toResourceVersion(revision);
const encodeLine = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

function bookmarkOf(
  kind: string,
  apiVersion: string,
  revision: Revision,
  initialEventsEnd: boolean,
): JsonObject {
  return { type: 'BOOKMARK', object: bookmarkObject(kind, apiVersion, revision, initialEventsEnd) };
}

function bookmarkObject(
  kind: string,
  apiVersion: string,
  revision: Revision,
  initialEventsEnd: boolean,
): JsonObject {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  return {
    kind,
    apiVersion,
    metadata: { resourceVersion: toResourceVersion(revision), creationTimestamp: null, ...annotations },
  };
}

/** Everything that needs the object itself: conversions, views, YAML, pretty JSON, metadata only. */
class ParsedForm implements Form {
  readonly contentType: string;
  readonly frames: FrameEncoder;
  readonly #options: FormOptions;
  readonly #apiVersion: string;
  readonly #partial: boolean;
  /** IDL name of what is shown. */
  readonly #type: string;

  constructor(options: FormOptions) {
    const { served, representation, dialect, view } = options;
    this.#options = options;
    this.#partial = representation.as === 'partial';
    this.#apiVersion = this.#partial
      ? `${dialectGroup('meta.k8s.io', representation.dialect ?? dialect)}/${representation.version}`
      : servedApiVersion(served, dialect);
    this.contentType = representation.contentType;
    this.#type =
      view === undefined || view.type === served.definition.storage.type ? served.version.type : view.type;
    const kind = this.#partial ? 'PartialObjectMetadata' : served.definition.kind;
    this.frames = {
      id: `${representation.contentType} ${representation.as} ${this.#apiVersion} ${view?.name ?? ''}`,
      encode: ({ type, entry, revision }) => this.#frame(type, this.#show({ json: entry.json, revision })),
      bookmark: (revision, end) =>
        this.#frame('BOOKMARK', bookmarkObject(kind, this.#apiVersion, revision, end)),
    };
  }

  object(stored: Stored): Buffer[] {
    return [this.#encode(this.#show(stored), this.#type)];
  }

  list(entries: readonly Stored[], head: ListHead): Buffer[] {
    const { served } = this.#options;
    const kind = this.#partial ? 'PartialObjectMetadataList' : served.definition.listKind;
    const items = entries.map((entry) => this.#show(entry));
    const metadata = toListMeta(head);
    return [this.#encode({ kind, apiVersion: this.#apiVersion, metadata, items }, `${this.#type}List`)];
  }

  #frame(type: string, object: JsonObject): Buffer {
    const { format } = this.#options.representation;
    if (format === 'json') return encodeLine({ type, object });
    return encodeFrame(type, object, this.#options.representation, this.#schema(this.#type));
  }

  #encode(value: JsonObject, type: string): Buffer {
    return encodeValue(value, this.#options.representation, this.#schema(type));
  }

  #schema(type: string): MessageSchema {
    const { types } = this.#options;
    if (!this.#partial) return types.message(type);
    return types.message(`meta/v1.PartialObjectMetadata${type.endsWith('List') ? 'List' : ''}`);
  }

  #show(stored: Stored): JsonObject {
    const object = toServed(stored, this.#options);
    if (!this.#partial) return object;
    return { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion, metadata: object.metadata };
  }
}

/** A stored object in the version, dialect and view that the client asked for. */
export function toServed(
  { json, revision }: Stored,
  { served, dialect, view }: Pick<FormOptions, 'served' | 'dialect' | 'view'>,
): ApiObject {
  const parsed = parseStored(json, revision === undefined ? undefined : toResourceVersion(revision));
  if (view !== undefined && view.name !== 'status') {
    const shown = view.read(parsed);
    return { ...shown, apiVersion: dialectApiVersion(shown.apiVersion, dialect) };
  }
  const { conversion } = served.version;
  const converted = conversion === undefined ? parsed : conversion.fromStorage(parsed);
  return { ...converted, apiVersion: servedApiVersion(served, dialect) };
}

/** meta/v1 Table: a row for each object, its cells as the resource defines them. */
class TableForm implements Form {
  readonly contentType: string;
  readonly frames: FrameEncoder;
  readonly #options: FormOptions;
  readonly #apiVersion: string;
  readonly #metaApiVersion: string;

  constructor(options: FormOptions) {
    const { representation, dialect, includeObject, served } = options;
    this.#options = options;
    const group = dialectGroup('meta.k8s.io', representation.dialect ?? dialect);
    this.#apiVersion = `${group}/${representation.version}`;
    this.#metaApiVersion = `${group}/${representation.version}`;
    this.contentType = representation.contentType;
    this.frames = {
      // Cells hold ages, which are of the moment: a frame is shared only among watchers of the same change.
      id: `table ${this.#apiVersion} ${includeObject} ${servedApiVersion(served, dialect)} ${representation.format}`,
      encode: ({ type, entry, revision }) =>
        this.#frame(type, this.#table([{ json: entry.json, revision }], versionText(revision))),
      bookmark: (revision, end) => this.#bookmark(revision, end),
    };
  }

  object(stored: Stored): Buffer[] {
    return [encodeValue(this.#table([stored], versionText(stored.revision)), this.#options.representation)];
  }

  list(entries: readonly Stored[], head: ListHead): Buffer[] {
    const table = { ...this.#table(entries, ''), metadata: toListMeta(head) };
    return [encodeValue(table, this.#options.representation)];
  }

  /** Frames after the first go without the definitions of the columns. YAML, which few read, repeats them. */
  first(frame: Buffer): Buffer {
    const at = frame.indexOf(NO_COLUMNS);
    if (at < 0) return frame;
    const columns = Buffer.from(
      `"columnDefinitions":${JSON.stringify(this.#options.served.definition.columns)}`,
    );
    return Buffer.concat([frame.subarray(0, at), columns, frame.subarray(at + NO_COLUMNS.length)]);
  }

  #table(entries: readonly Stored[], resourceVersion: string): JsonObject {
    return {
      kind: 'Table',
      apiVersion: this.#apiVersion,
      metadata: resourceVersion === '' ? {} : { resourceVersion },
      columnDefinitions: this.#options.served.definition.columns.map((column) => ({ ...column })),
      rows: entries.map((entry) => this.#row(entry)),
    };
  }

  #row(stored: Stored): JsonObject {
    const { served, includeObject, now } = this.#options;
    const parsed = parseStored(stored.json, versionText(stored.revision));
    const cells = [...served.definition.cells(parsed, now())];
    switch (includeObject) {
      case 'None':
        return { cells };
      case 'Object':
        return { cells, object: toServed(stored, this.#options) };
      default:
        return {
          cells,
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: this.#metaApiVersion,
            metadata: parsed.metadata,
          },
        };
    }
  }

  #frame(type: string, table: JsonObject): Buffer {
    const { representation } = this.#options;
    if (representation.format !== 'json') return encodeFrame(type, table, representation);
    return encodeLine({ type, object: { ...table, columnDefinitions: null } });
  }

  #bookmark(revision: Revision, initialEventsEnd: boolean): Buffer {
    const { served, dialect } = this.#options;
    const apiVersion = servedApiVersion(served, dialect);
    const object = bookmarkObject(served.definition.kind, apiVersion, revision, initialEventsEnd);
    const row = { cells: served.definition.columns.map(() => null), object };
    return this.#frame('BOOKMARK', { ...this.#table([], versionText(revision)), rows: [row] });
  }
}
