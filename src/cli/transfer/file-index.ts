import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import { isList, LONGEST_UID_LINE, readDocument, readItem, uidIn } from './documents.ts';
import { allBut, byteSet, FileBytes } from './file-bytes.ts';
import { scanJson } from './json-scan.ts';
import type { Unread } from './source.ts';
import { cutYamlList, type Item, lineValue } from './yaml-scan.ts';

/** A document of a file of YAML or JSON. */
export interface FileDocument {
  readonly path: string;
  /** From 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** Where an object is, so that objects are sorted before they are read. */
export interface Piece {
  readonly apiVersion: string;
  readonly kind: string;
  readonly document: FileDocument;
  /** The number of the item in the List that the document is, from 1; 0: the document is the object. */
  readonly item: number;
  readonly from: number;
  readonly size: number;
  /** How many lines of YAML come before it in the document; undefined in JSON. */
  readonly line: number | undefined;
  /** In a document of an export. */
  readonly uid?: string | undefined;
  /** The object, where it had to be read for this. */
  readonly value?: JsonObject;
}

/** `all.yaml, document 3, item 5` */
export const nameOfPiece = ({ document, item }: Pick<Piece, 'document' | 'item'>): string =>
  `${document.path}, document ${document.number}${item === 0 ? '' : `, item ${item}`}`;

/**
 * Finds the objects of a file of any size by its bytes, without reading most of them: documents by their separators, their types by
 * lines without indent, items of Lists by the indent of the first one, or in JSON by brackets. Documents that are written otherwise
 * are read as a whole. A type that is not the object's own costs only its place in the order.
 */
export function* indexFile(path: string): Generator<Piece | Unread> {
  const bytes = new FileBytes(path);
  try {
    for (const document of documentsIn(bytes, path)) yield* piecesOf(bytes, document);
  } finally {
    bytes.close();
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const SEPARATOR = Buffer.from('---');
const SEPARATOR_LINE = Buffer.from('\n---');
const COMMENT = /^[ \t\r]*(?:#.*)?$/s;
const MOST_COMMENT = 4096;

function* documentsIn(bytes: FileBytes, path: string): Generator<FileDocument> {
  const { size } = bytes;
  let from = bytes.find(BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length) === 0 ? BYTE_ORDER_MARK.length : 0;
  for (let number = 1; ; number += 1) {
    const separator = path.endsWith('.json') ? -1 : nextSeparator(bytes, from, number === 1);
    yield { path, number, from, to: separator < 0 ? size : separator };
    if (separator < 0) return;
    from = separator + SEPARATOR.length;
    const end = bytes.lineAfter(from, size);
    // The line end stays, for the next separator. An object may begin in the line.
    if (end - from < MOST_COMMENT && COMMENT.test(bytes.text(from, end).trimEnd()))
      from = end === size ? end : end - 1;
  }
}

function nextSeparator(bytes: FileBytes, from: number, isFirst: boolean): number {
  const { size } = bytes;
  if (isFirst && bytes.find(SEPARATOR, from, from + SEPARATOR.length) === from && isSeparator(bytes, from))
    return from;
  for (let at = from; ; at += 1) {
    at = bytes.find(SEPARATOR_LINE, at, size);
    if (at < 0) return -1;
    if (isSeparator(bytes, at + 1)) return at + 1;
  }
}

const BEHIND_SEPARATOR: ReadonlySet<number> = new Set([-1, ...Buffer.from(' \t\r\n')]);

const isSeparator = (bytes: FileBytes, at: number): boolean =>
  BEHIND_SEPARATOR.has(bytes.at(at + SEPARATOR.length));

const NO_SPACES = allBut(byteSet(' \t\r\n'));
const OPEN_OBJECT = 0x7b;

function* piecesOf(bytes: FileBytes, document: FileDocument): Generator<Piece | Unread> {
  const { from, to } = document;
  const first = bytes.seek(NO_SPACES, from, to);
  if (first === to) return;
  yield* (bytes.at(first) === OPEN_OBJECT
    ? piecesOfJson(bytes, document, first)
    : piecesOfYaml(bytes, document, first)) ?? readWhole(bytes, document);
}

function piecesOfYaml(
  bytes: FileBytes,
  document: FileDocument,
  first: number,
): Iterable<Piece | Unread> | undefined {
  const { from, to } = document;
  const kind = lineValue(bytes, 'kind:', document);
  const apiVersion = lineValue(bytes, 'apiVersion:', document);
  if (kind === undefined || apiVersion === undefined) return undefined;
  if (!isList(kind)) {
    const uid = uidIn(bytes.text(first, Math.min(to, first + LONGEST_UID_LINE)));
    return [{ apiVersion, kind, document, item: 0, from, size: to - from, line: undefined, uid }];
  }
  const items = cutYamlList(bytes, document);
  return items === undefined ? undefined : itemPieces(bytes, document, items);
}

function piecesOfJson(
  bytes: FileBytes,
  document: FileDocument,
  first: number,
): Iterable<Piece | Unread> | undefined {
  const found = scanJson(bytes, first, document.to);
  if (found === undefined) return undefined;
  const { apiVersion, kind, items } = found;
  if (items !== undefined && isList(kind)) return itemPieces(bytes, document, items);
  if (kind === undefined || apiVersion === undefined || isList(kind)) return undefined;
  const { from, to } = document;
  return [{ apiVersion, kind, document, item: 0, from, size: to - from, line: undefined }];
}

function* itemPieces(
  bytes: FileBytes,
  document: FileDocument,
  items: readonly Item[],
): Generator<Piece | Unread> {
  for (const [at, { apiVersion, kind, from, to, line }] of items.entries()) {
    const place = { document, item: at + 1, from, size: to - from, line };
    if (apiVersion !== undefined && kind !== undefined) yield { apiVersion, kind, ...place };
    else
      yield* orUnread(place, () => {
        const value = readItem(bytes.text(from, to), line);
        return isObject(value) ? [withValue(value, place)] : [];
      });
  }
}

/** A document in another style. */
function* readWhole(bytes: FileBytes, document: FileDocument): Generator<Piece | Unread> {
  const { from, to } = document;
  const place = { document, item: 0, from, size: to - from, line: undefined };
  yield* orUnread(place, () => {
    const read = readDocument(bytes.text(from, to));
    if (read.kind === 'empty') return [];
    if (read.kind === 'object') return [withValue(read.object, place)];
    const size = Math.ceil(place.size / read.items.length);
    return read.items.flatMap((value, at) =>
      isObject(value) ? [withValue(value, { ...place, size, item: at + 1 })] : [],
    );
  });
}

const withValue = (value: JsonObject, place: Omit<Piece, 'apiVersion' | 'kind'>): Piece => ({
  ...{ apiVersion: textOf(value.apiVersion), kind: textOf(value.kind) },
  ...place,
  value,
});

function orUnread(
  place: Pick<Piece, 'document' | 'item'>,
  read: () => readonly Piece[],
): readonly (Piece | Unread)[] {
  try {
    return read();
  } catch (error) {
    return [{ name: nameOfPiece(place), reason: errorText(error) }];
  }
}
