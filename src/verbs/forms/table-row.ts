import { DerivedCache } from '../../codec/derived-cache.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { toDated, toUndated, UNDATED, type Undated } from '../../object/ages.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { type Stored, versionText } from './form.ts';

/** What a table shows of an object in one state: its cells for any moment. */
export interface TableRow {
  readonly definition: ResourceDefinition;
  /** JSON of the cells; undefined when they depend on the moment in other ways than by ages. */
  readonly cells: Undated | undefined;
  readonly sizeBytes: number;
}

/** Parsing a pod of 7.7 kB for its cells takes 60 µs, putting ages into cells that are known less than 1. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
const kept = new DerivedCache<TableRow>(MAX_KEPT_BYTES);
/** What a row takes beside its text. */
const OVERHEAD_BYTES = 200;

/** `key` is what lives as long as the object is in this state. */
export function rowOf(key: object, json: Buffer, definition: ResourceDefinition): TableRow {
  const known = kept.get(key);
  if (known !== undefined && known.definition === definition) return known;
  const row = makeRow(json, definition);
  kept.set(key, row);
  return row;
}

function makeRow(json: Buffer, definition: ResourceDefinition): TableRow {
  const object = parseStored(json);
  const text = JSON.stringify(definition.cells(object, UNDATED));
  const undated = toUndated(text);
  // A definition may tell the time in a way of its own, which only a real moment can show.
  const now = Date.now();
  const isTrue = toDated(undated, now) === JSON.stringify(definition.cells(object, now));
  return {
    definition,
    cells: isTrue ? undated : undefined,
    sizeBytes: OVERHEAD_BYTES + text.length,
  };
}

/** JSON of the cells at a moment. */
export function cellsAt(row: TableRow, stored: Stored, now: number): string {
  if (row.cells !== undefined) return toDated(row.cells, now);
  return JSON.stringify(row.definition.cells(parseStored(stored.json, versionText(stored.revision)), now));
}
