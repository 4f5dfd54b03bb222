import type { JsonValue } from '../../api/object-meta.ts';
import { text } from '../../object/parts.ts';

/** What a config map or a secret may hold at most, keys not counted. */
export const MAX_DATA_BYTES = 1024 * 1024;

/** Size of what a base64 text stands for. */
export const decodedBytes = (base64: JsonValue | undefined): number =>
  Buffer.byteLength(text(base64), 'base64');
