import type { JsonObject } from '../../api/object-meta.ts';
import type { Representation } from '../../codec/negotiate.ts';
import { parseStored, parseStoredMetadata, parseStoredRest } from '../../codec/stored-object.ts';
import { encodeFrame } from '../../codec/wire-formats.ts';
import type { ColumnSet } from '../../registry/resource-definition.ts';
import type { Revision } from '../../storage/revision.ts';
import {
  bookmarkObject,
  type FormOptions,
  type Frames,
  isStored,
  type ListHead,
  metaApiVersion,
  metadataEndOf,
  noTimeOf,
  type OutputType,
  type Stored,
  servedApiVersion,
  toListMeta,
  toServed,
  versionText,
} from './form.ts';

/** Writes a list as an answer of its own. */
type ListEnd = (list: JsonObject) => Buffer;

/** Converts objects to values, for forms that need the objects themselves. */
export interface Values {
  /** Equal for equal values. */
  readonly id: string;
  object(stored: Stored): JsonObject;
  /** The object as an item of a list. */
  item(stored: Stored): JsonObject;
  /** Converts to either, for an object so large that conversion must yield the event loop. */
  inSteps(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject>;
  /** A list without its items. */
  list(head: ListHead): JsonObject;
  /** The field of the list that contains the items. */
  readonly itemsField: 'items' | 'rows';
  /** `end`: the bookmark ends the state of a streaming list. */
  bookmark(revision: Revision, end: ListEnd | undefined): JsonObject;
}

/** Larger objects are converted in steps, and larger lists are made while they are sent. */
export const LARGE_BYTES = 128 * 1024;

/** Converts an object as {@link Values.inSteps}, and yields `pause` where the event loop must have a turn. */
export function* converted<Pause>(
  values: Values,
  stored: Stored,
  as: 'object' | 'item',
  pause: Pause,
): Generator<Pause, JsonObject> {
  const steps = values.inSteps(stored, as);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yield pause;
  return step.value;
}

/** Frames of values. `toBytes` writes the empty list that ends the state of a streaming list. */
export const framesOf = (values: Values, representation: Representation, toBytes: ListEnd): Frames => ({
  id: `${representation.format} ${values.id}`,
  encode: ({ type, entry, revision }) =>
    encodeFrame(type, values.object({ json: entry.json, revision }), representation),
  bookmark: (revision, initialEventsEnd) =>
    encodeFrame(
      'BOOKMARK',
      values.bookmark(revision, initialEventsEnd ? toBytes : undefined),
      representation,
    ),
});

/** Objects, views of them, or their metadata. */
export class ObjectValues implements Values {
  readonly id: string;
  readonly itemsField = 'items';
  readonly #options: FormOptions;
  readonly #output: OutputType;

  constructor(options: FormOptions, output: OutputType) {
    const { served, dialect, view } = options;
    this.#options = options;
    this.#output = output;
    // Metadata differs between versions: autoscaling/v1 has annotations in place of fields.
    this.id = [output.kind, output.apiVersion, servedApiVersion(served, dialect), view?.name ?? ''].join(' ');
  }

  object(stored: Stored): JsonObject {
    const { kind, apiVersion, metadataOnly } = this.#output;
    if (!metadataOnly) return toServed(stored, this.#options);
    if (!isStored(this.#options)) {
      return { kind, apiVersion, metadata: toServed(stored, this.#options).metadata };
    }
    const metadata = parseStoredMetadata(stored.json, metadataEndOf(stored), versionText(stored.revision));
    return { kind, apiVersion, metadata };
  }

  item(stored: Stored): JsonObject {
    return this.#asItem(this.object(stored));
  }

  /** Managed fields are half of a large object, and are parsed in a turn of their own. */
  *inSteps(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject> {
    if (this.#output.metadataOnly || !isStored(this.#options)) {
      return as === 'object' ? this.object(stored) : this.item(stored);
    }
    const end = metadataEndOf(stored);
    const metadata = parseStoredMetadata(stored.json, end, versionText(stored.revision));
    yield;
    const rest = parseStoredRest(stored.json, end);
    yield;
    const { kind, apiVersion } = this.#output;
    const object = { kind, apiVersion, metadata, ...rest };
    return as === 'object' ? object : this.#asItem(object);
  }

  #asItem(object: JsonObject): JsonObject {
    if (this.#output.typedItems) return object;
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    return item;
  }

  list(head: ListHead): JsonObject {
    const { listKind, apiVersion } = this.#output;
    return { kind: listKind, apiVersion, metadata: toListMeta(head) };
  }

  bookmark(revision: Revision, end: ListEnd | undefined): JsonObject {
    return bookmarkObject({ ...this.#output, revision, isEnd: end !== undefined, encodeList: end });
  }
}

/** meta/v1 Table for clients without server-side encoding. Watches repeat the column definitions. */
export class TableValues implements Values {
  readonly id: string;
  readonly itemsField = 'rows';
  readonly #options: FormOptions;
  readonly #apiVersion: string;
  /** For views with columns of their own. */
  readonly #ofView: ColumnSet | undefined;

  constructor(options: FormOptions, ofView?: ColumnSet) {
    const { dialect, includeObject, served } = options;
    this.#options = options;
    this.#apiVersion = metaApiVersion(options);
    this.#ofView = ofView;
    const columns = served.definition.custom?.digest ?? '';
    this.id = `table ${this.#apiVersion} ${includeObject} ${servedApiVersion(served, dialect)} ${columns}`;
  }

  object(stored: Stored): JsonObject {
    return { ...this.#table({ resourceVersion: versionText(stored.revision) }), rows: [this.item(stored)] };
  }

  item(stored: Stored): JsonObject {
    const { served, includeObject, now } = this.#options;
    const parsed =
      this.#ofView === undefined
        ? parseStored(stored.json, versionText(stored.revision))
        : toServed(stored, this.#options);
    const cells = [...(this.#ofView ?? served.definition).cells(parsed, now())];
    switch (includeObject) {
      case 'None':
        return { cells };
      case 'Object':
        return { cells, object: toServed(stored, this.#options) };
      default: {
        const { metadata } = parsed;
        return { cells, object: { kind: 'PartialObjectMetadata', apiVersion: this.#apiVersion, metadata } };
      }
    }
  }

  *inSteps(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject> {
    const made = as === 'object' ? this.object(stored) : this.item(stored);
    yield;
    return made;
  }

  list(head: ListHead): JsonObject {
    return this.#table(toListMeta(head));
  }

  bookmark(revision: Revision, end: ListEnd | undefined): JsonObject {
    const { served, dialect } = this.#options;
    const { kind, columns } = served.definition;
    const apiVersion = servedApiVersion(served, dialect);
    const noTime = noTimeOf(this.#options, 'object');
    const object = bookmarkObject({ kind, apiVersion, noTime, revision, isEnd: end !== undefined });
    const row = { cells: columns.map(() => null), object };
    return { ...this.#table({ resourceVersion: versionText(revision) }), rows: [row] };
  }

  #table(metadata: JsonObject): JsonObject {
    const { columns } = this.#ofView ?? this.#options.served.definition;
    return {
      kind: 'Table',
      apiVersion: this.#apiVersion,
      metadata,
      columnDefinitions: columns.map((column) => ({ ...column })),
    };
  }
}
