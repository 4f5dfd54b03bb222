import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkConfigMapKey } from '../../object/text-formats.ts';

/** Data by key, which can be marked immutable: config maps and secrets. */

/** The most data that one object may hold, keys not counted. */
export const MAX_DATA_BYTES = 1024 * 1024;

/** The size of the decoded base64 text. */
export const decodedBytes = (base64: string): number => Buffer.byteLength(base64, 'base64');

/** `at` is the map: a path of the entry is made only for a bad key, because there may be thousands of good ones. */
export function mustBeDataKey(at: FieldPath, key: string): void {
  const reasons = checkConfigMapKey(key);
  if (reasons.length > 0) at.item(key).invalidFor(key, reasons);
}

interface KeyedData {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** An object marked immutable stays so, and keeps its data. */
export function mustKeepData(at: FieldPath, object: KeyedData, old: KeyedData): void {
  if (old.immutable !== true) return;
  const refuse = (field: string): void =>
    at.field(field).forbidden('field is immutable when `immutable` is set');
  if (object.immutable !== true) refuse('immutable');
  for (const field of ['data', 'binaryData'] as const) if (!equal(object[field], old[field])) refuse(field);
}
