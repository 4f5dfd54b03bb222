import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { count, text } from '../../object/parts.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { refusal } from '../refusal.ts';
import { isPodWrite, specOf } from './written-pod.ts';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

/** The numbers that a class stands for. */
interface Priority {
  readonly value: number;
  /** Empty: the class says nothing about it. */
  readonly preemptionPolicy: string;
}

const WITHOUT_CLASS: Priority = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/**
 * Pods have the priority of the class that they name, or of the one that is the default of all; there is one default at most
 * (Kubernetes: plugin/pkg/admission/priority).
 */
export function createPriority(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(PRIORITY_CLASSES);
  const lookup = new ObjectLookup(objects, PRIORITY_CLASSES);
  return {
    name: 'Priority',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      const { object, old } = attributes;
      if (!isPodWrite(attributes) || object === undefined) return undefined;
      if (attributes.operation === 'CREATE')
        return prioritize(attributes, specOf(object), { classes, lookup });
      if (old !== undefined) keepPriority(specOf(object), specOf(old));
      return undefined;
    },
    validate: (attributes) => {
      const { definition, object, subresource } = attributes;
      const { group, resource } = definition;
      if (group !== PRIORITY_CLASSES.group || resource !== PRIORITY_CLASSES.resource) return;
      if (subresource === '' && object?.globalDefault === true)
        refuseSecondDefault(attributes, object, findDefault(classes));
    },
  };
}

function prioritize(
  attributes: AdmissionAttributes,
  spec: JsonObject,
  { classes, lookup }: { classes: FollowedObjects; lookup: ObjectLookup },
): Promise<void> | undefined {
  const name = text(spec.priorityClassName);
  if (name === '') {
    const found = findDefault(classes);
    if (found !== undefined) spec.priorityClassName = found.metadata.name ?? '';
    setPriority(attributes, spec, found === undefined ? WITHOUT_CLASS : toPriority(found));
    return undefined;
  }
  return lookup.with('', name, (found) => {
    if (found === undefined) throw refusal(attributes, `no PriorityClass with name ${name} was found`);
    setPriority(attributes, spec, toPriority(found));
  });
}

const toPriority = ({ value, preemptionPolicy }: ApiObject): Priority => ({
  value: count(value),
  preemptionPolicy: text(preemptionPolicy),
});

/** Of several defaults, made in one moment on several servers, the lowest. */
function findDefault(classes: FollowedObjects): ApiObject | undefined {
  let found: ApiObject | undefined;
  for (const one of classes.in('')) {
    if (one.globalDefault !== true) continue;
    if (found === undefined || count(one.value) < count(found.value)) found = one;
  }
  return found;
}

/** Nobody sets the numbers by hand: they may be there, but only as they would become. */
function setPriority(
  attributes: AdmissionAttributes,
  spec: JsonObject,
  { value, preemptionPolicy }: Priority,
): void {
  const computed = 'priority admission controller computed';
  if (spec.priority !== undefined && count(spec.priority) !== value) {
    const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed} ${value} from the given PriorityClass name`;
    throw refusal(attributes, why);
  }
  spec.priority = value;
  if (preemptionPolicy === '') return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ${computed} ${preemptionPolicy} from the given PriorityClass name`;
    throw refusal(attributes, why);
  }
  spec.preemptionPolicy = preemptionPolicy;
}

/** Whoever writes a pod back without what was added to it does not mean to take it away. */
function keepPriority(spec: JsonObject, { priority, preemptionPolicy }: JsonObject): void {
  if (priority !== undefined) spec.priority ??= priority;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
}

function refuseSecondDefault(
  attributes: AdmissionAttributes,
  { metadata }: ApiObject,
  held: ApiObject | undefined,
): void {
  if (held === undefined) return;
  const name = held.metadata.name ?? '';
  if (attributes.operation === 'UPDATE' && name === metadata.name) return;
  throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}
