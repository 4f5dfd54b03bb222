/** ObjectMeta and the shape of every API object in memory: plain JSON values, decoded and checked against a schema. */

/** A bigint is an integer that a number cannot hold, never a smaller one (object/exact-json.ts). */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [field: string]: JsonValue | undefined };

export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry extends JsonObject {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

/** Metadata of one object. Times are RFC 3339 strings in UTC with whole seconds. */
export interface ObjectMeta extends JsonObject {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface ApiObject extends JsonObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
}
