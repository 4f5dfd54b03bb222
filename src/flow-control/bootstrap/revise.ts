import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { parseGoBool } from '../../object/go-value.ts';
import { AUTO_UPDATE } from './objects.ts';

/**
 * The object that the server would write in place of `current` (Kubernetes: registry/flowcontrol/ensurer). Mandatory objects
 * always get the shipped spec. Suggested ones get it until the operator takes them over: by the annotation or, without one, by a
 * change of the spec. Undefined: no write is needed. `current` is not changed.
 */
export function revise(current: ApiObject, shipped: ApiObject, mandatory: boolean): ApiObject | undefined {
  const updates = mandatory || mayUpdate(current);
  const specChanged = updates && !sameSpec(current, shipped);
  const noted = readAutoUpdate(current) === updates;
  if (noted && !specChanged) return undefined;
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE]: String(updates) };
  return {
    ...current,
    metadata: { ...current.metadata, annotations },
    ...(specChanged && shipped.spec !== undefined ? { spec: structuredClone(shipped.spec) } : {}),
  };
}

/** Whether the object is of an earlier release and was not taken over, so that it is to be deleted. */
export const isAbandoned = (object: ApiObject, shipped: ReadonlySet<string>): boolean =>
  !shipped.has(object.metadata.name ?? '') && readAutoUpdate(object) === true;

const mayUpdate = (object: ApiObject): boolean => readAutoUpdate(object) ?? object.metadata.generation === 1;

const readAutoUpdate = ({ metadata }: ApiObject): boolean | undefined =>
  parseGoBool(metadata.annotations?.[AUTO_UPDATE] ?? '');

/** Compares specs. The seats of the exempt level are left out, because they belong to the operator. */
function sameSpec({ metadata, spec }: ApiObject, shipped: ApiObject): boolean {
  if (metadata.name !== 'exempt' || shipped.kind !== 'PriorityLevelConfiguration')
    return equal(spec, shipped.spec);
  return (
    isObject(spec) &&
    isObject(shipped.spec) &&
    isObject(spec.exempt) &&
    equalExcept(spec, shipped.spec, ['exempt'])
  );
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
