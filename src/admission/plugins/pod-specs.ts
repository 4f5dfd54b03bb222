import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** Where the pod spec of each resource stands that has one. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  '/pods': ['spec'],
  '/podtemplates': ['template', 'spec'],
  '/replicationcontrollers': ['spec', 'template', 'spec'],
  'apps/deployments': ['spec', 'template', 'spec'],
  'apps/replicasets': ['spec', 'template', 'spec'],
  'apps/statefulsets': ['spec', 'template', 'spec'],
  'apps/daemonsets': ['spec', 'template', 'spec'],
  'batch/jobs': ['spec', 'template', 'spec'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

/** The pod spec of an object and its path; undefined for objects that have none. */
export function podSpecOf(
  { definition }: AdmissionAttributes,
  object: ApiObject | undefined,
): { spec: JsonObject; path: string } | undefined {
  const path = PATHS[`${definition.group}/${definition.resource}`];
  if (path === undefined || object === undefined) return undefined;
  let value: JsonValue | undefined = object;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? { spec: value, path: path.join('.') } : undefined;
}

/** A list of objects; empty when it is absent. */
export const listOf = (object: JsonObject, name: string): JsonObject[] =>
  Array.isArray(object[name]) ? object[name].filter(isObject) : [];
