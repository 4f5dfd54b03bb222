import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { parseJson } from '../exact-json.ts';
import { isObject } from '../merge-patch.ts';
import { fieldsOf } from './applied-set.ts';
import { compare } from './compare.ts';
import { difference, EMPTY, type FieldSet } from './field-set.ts';
import type { OwnedVersion } from './track.ts';

/** Where kubectl keeps the configuration that it applied on its own side. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** What the annotations of an object may have together; a configuration that does not fit is not kept. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Fields that kubectl applied by itself and that still have the value it gave them. */
export function ownedByLastApplied(live: ApiObject, { apiVersion, shape }: OwnedVersion): FieldSet {
  const applied = parse(live.metadata.annotations?.[LAST_APPLIED]);
  if (applied === undefined || applied.apiVersion !== apiVersion) return EMPTY;
  const { written, removed } = compare(applied, live, shape);
  return difference(difference(fieldsOf(applied, shape), written), removed);
}

function parse(text: string | undefined): JsonObject | undefined {
  try {
    const value = parseJson(text ?? 'null');
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An object that has the annotation keeps it true, so that a client of the old way still finds what was applied. */
export function keepLastApplied(object: ApiObject, config: JsonObject): void {
  const { annotations } = object.metadata;
  if ((annotations?.[LAST_APPLIED] ?? '') === '') return;
  const kept = { ...annotations };
  kept[LAST_APPLIED] = `${JSON.stringify(inOrder(withoutAnnotation(config)))}\n`;
  const sizeBytes = Object.entries(kept).reduce(
    (sum, [key, value]) => sum + key.length + Buffer.byteLength(value),
    0,
  );
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) delete kept[LAST_APPLIED];
  object.metadata = { ...object.metadata, annotations: kept };
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = isObject(config.metadata) ? config.metadata : {};
  if (!isObject(metadata.annotations)) return config;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations;
  return { ...config, metadata: { ...metadata, annotations } };
}

/** Keys in order, so that the same configuration gives the same text. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key])]));
}
