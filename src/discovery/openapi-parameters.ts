import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { OpenApiVersion, SchemaWriter } from './openapi-schema.ts';

/** What the paths of one group version are written with. */
export interface PathWriter {
  readonly version: OpenApiVersion;
  readonly schemas: SchemaWriter;
  /** `/api/v1` or `/apis/apps/v1`. */
  readonly root: string;
  /** `CoreV1`, `AppsV1`: what operation ids carry. */
  readonly tag: string;
  readonly kind: (kind: GroupVersionKind) => GroupVersionKind;
}

export type ParameterType = 'string' | 'integer' | 'boolean';

export function parameter(
  { version }: Pick<PathWriter, 'version'>,
  name: string,
  type: ParameterType,
  where: 'path' | 'query',
): JsonObject {
  const common = { name, in: where, ...(where === 'path' ? { required: true } : {}) };
  return version === 'v2'
    ? { ...common, type, uniqueItems: true }
    : { ...common, schema: { type, uniqueItems: true } };
}
