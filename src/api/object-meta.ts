import type { JsonObject } from './json.ts';
import type { ObjectMeta } from './types/meta/v1.ts';

/** The fields of every API object in memory: plain JSON values, decoded and checked against a schema. */

export type { JsonObject, JsonValue } from './json.ts';
export type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './types/meta/v1.ts';

/** An object of any type. One of a known type has its own, for example `Deployment` of api/types/apps/v1.ts. */
export interface ApiObject extends JsonObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
}
