import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { parseGoBool } from '../../object/go-value.ts';
import { AUTO_UPDATE } from './objects.ts';

/**
 * What the server would make of an object it ships (Kubernetes: registry/flowcontrol/ensurer). Mandatory objects always
 * get their spec; suggested ones as long as the operator has not taken them over by the annotation, or, where that says
 * nothing, by a change of the spec. Undefined: it is as it should be. `current` is not changed.
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

/** An object of an earlier release that nobody has taken over: it is to be deleted. */
export const isAbandoned = (object: ApiObject, shipped: ReadonlySet<string>): boolean =>
  !shipped.has(object.metadata.name ?? '') && readAutoUpdate(object) === true;

const mayUpdate = (object: ApiObject): boolean => readAutoUpdate(object) ?? object.metadata.generation === 1;

const readAutoUpdate = ({ metadata }: ApiObject): boolean | undefined =>
  parseGoBool(metadata.annotations?.[AUTO_UPDATE] ?? '');

/** How much the exempt level counts in the division of seats is the operator's to say. */
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
