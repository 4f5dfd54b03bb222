import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../../object/merge-patch.ts';
import { table } from '../../util/table.ts';
import type { AdmissionAttributes } from '../admission.ts';

const IN_TEMPLATE: readonly string[] = ['spec', 'template', 'spec'];

/** Where the pod spec of each resource stands that has one: by group, then by resource. */
const PATHS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = table({
  '': { pods: ['spec'], podtemplates: ['template', 'spec'], replicationcontrollers: IN_TEMPLATE },
  apps: {
    deployments: IN_TEMPLATE,
    replicasets: IN_TEMPLATE,
    statefulsets: IN_TEMPLATE,
    daemonsets: IN_TEMPLATE,
  },
  batch: { jobs: IN_TEMPLATE, cronjobs: ['spec', 'jobTemplate', ...IN_TEMPLATE] },
});

/** The pod spec of an object and its path; undefined for objects that have none. */
export function podSpecOf(
  { definition }: AdmissionAttributes,
  object: ApiObject | undefined,
): { spec: JsonObject; path: readonly string[] } | undefined {
  const path = PATHS[definition.group]?.[definition.resource];
  if (path === undefined || object === undefined) return undefined;
  let value: JsonValue | undefined = object;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? { spec: value, path } : undefined;
}

/** A list of objects; empty when it is absent. */
export const listOf = (object: JsonObject, name: string): JsonObject[] =>
  Array.isArray(object[name]) ? object[name].filter(isObject) : [];
