import { PODS, PRIORITY_CLASSES } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { PodSpec } from '../../api/types/core/v1.ts';
import type { PriorityClass } from '../../api/types/scheduling/v1.ts';
import type { PodGroup, PodGroupSpec } from '../../api/types/scheduling/v1alpha2.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';
import { specOf } from './pod-specs.ts';

const POD_GROUPS: ResourceOf<PodGroup> = { group: 'scheduling.k8s.io', resource: 'podgroups' };

/** The values of a priority class. */
interface Priority {
  readonly value: number;
  /** Empty: the class has none. */
  readonly preemptionPolicy: string;
}

const WITHOUT_CLASS: Priority = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/**
 * Gives pods the priority of the class that they name, or of the default class, groups of pods too where these are preempted
 * together (the feature WorkloadAwarePreemption), and allows one default class
 * (Kubernetes: plugin/pkg/admission/priority).
 */
function createPriority(objects: ClusterObjects, ofGroups: boolean): AdmissionPlugin {
  const classes = objects.follow(PRIORITY_CLASSES);
  const lookup = new ObjectLookup(objects, PRIORITY_CLASSES);
  return {
    name: 'Priority',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      if (attributes.object === undefined) return undefined;
      if (ofGroups && isWriteOf(attributes, POD_GROUPS) && attributes.operation === 'CREATE')
        return establish(classes, lookup, {
          ...{ attributes, spec: (attributes.object as PodGroup).spec ?? {}, set: setGroupPriority },
        });
      if (!isWriteOf(attributes, PODS)) return undefined;
      const { object, old } = attributes;
      if (attributes.operation === 'CREATE')
        return establish(classes, lookup, { attributes, spec: specOf(object), set: setPriority });
      if (old !== undefined) keepPriority(specOf(object), specOf(old));
      return undefined;
    },
    validate: (attributes) => {
      if (!isWriteOf(attributes, PRIORITY_CLASSES)) return;
      const { object } = attributes;
      if (object?.globalDefault === true) refuseSecondDefault(attributes, object, findDefault(classes));
    },
  };
}

interface Prioritized<Spec> {
  readonly attributes: AdmissionAttributes;
  readonly spec: Spec;
  set(attributes: AdmissionAttributes, spec: Spec, priority: Priority): void;
}

function establish<Spec extends { priorityClassName?: string }>(
  classes: FollowedObjects<PriorityClass>,
  lookup: ObjectLookup<PriorityClass>,
  { attributes, spec, set }: Prioritized<Spec>,
): Promise<void> | undefined {
  const { priorityClassName: name = '' } = spec;
  if (name === '') {
    const found = findDefault(classes);
    if (found !== undefined) spec.priorityClassName = found.metadata.name ?? '';
    set(attributes, spec, found === undefined ? WITHOUT_CLASS : toPriority(found));
    return undefined;
  }
  return lookup.with('', name, (found) => {
    if (found === undefined) throw refusal(attributes, `no PriorityClass with name ${name} was found`);
    set(attributes, spec, toPriority(found));
  });
}

function setGroupPriority(attributes: AdmissionAttributes, spec: PodGroupSpec, { value }: Priority): void {
  if (spec.priority !== undefined && spec.priority !== value) {
    const why = `priority set in the pod group (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`;
    throw refusal(attributes, why);
  }
  spec.priority = value;
}

const toPriority = ({ value = 0, preemptionPolicy = '' }: PriorityClass): Priority => ({
  value,
  preemptionPolicy,
});

/** The lowest default, because several servers may have created one at the same moment. */
function findDefault(classes: FollowedObjects<PriorityClass>): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const one of classes.in('')) {
    if (one.globalDefault !== true) continue;
    if (found === undefined || (one.value ?? 0) < (found.value ?? 0)) found = one;
  }
  return found;
}

/** The values may be set by hand only if they equal those of the class. */
function setPriority(
  attributes: AdmissionAttributes,
  spec: PodSpec,
  { value, preemptionPolicy }: Priority,
): void {
  const computed = 'priority admission controller computed';
  if (spec.priority !== undefined && spec.priority !== value) {
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

/** An update without the fields that the create added keeps them. */
function keepPriority(spec: PodSpec, { priority, preemptionPolicy }: PodSpec): void {
  if (priority !== undefined) spec.priority ??= priority;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
}

function refuseSecondDefault(
  attributes: AdmissionAttributes,
  { metadata }: PriorityClass,
  held: PriorityClass | undefined,
): void {
  if (held === undefined) return;
  const name = held.metadata.name ?? '';
  if (attributes.operation === 'UPDATE' && name === metadata.name) return;
  throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}

export const priority = describePlugin({
  name: 'Priority',
  isDefault: true,
  create: ({ objects, isFeatureOn }: Pick<PluginParts, 'objects' | 'isFeatureOn'>) =>
    createPriority(objects, isFeatureOn('WorkloadAwarePreemption')),
});
