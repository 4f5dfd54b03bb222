import { defaultGates, type Gates, minorOf } from '../../api/feature-gates.ts';
import type {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  Pod,
  PodAffinityTerm,
  PodCondition,
  PodSpec,
  PodStatus,
} from '../../api/types/core/v1.ts';
import type { LabelSelectorRequirement } from '../../api/types/meta/v1.ts';
import { equal } from '../../object/equality.ts';
import { qosClass } from '../../object/pod-spec.ts';
import type { GenerationRule } from '../../registry/strategy.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { CONTAINER_LISTS } from './containers-of.ts';
import { withCondition } from './pod-conditions.ts';
import { APP_ARMOR_PREFIX, fromAnnotation, holdsAppArmor, toAnnotation } from './security-profiles.ts';

/** The server's own part of a new pod (Kubernetes: pod strategy, PrepareForCreate). */
export function preparePod(pod: Pod, _?: UserInfo, isOn: Gates = defaultGates): void {
  const { metadata, spec = {} } = pod;
  const status = { phase: 'Pending', qosClass: qosClass(spec) };
  const isGated = (spec.schedulingGates ?? []).length > 0;
  pod.status = isGated ? withCondition(status, GATED) : status;
  addLabelKeys(spec, metadata.labels ?? {});
  if (spreadsByLabelKeys(isOn))
    for (const constraint of spec.topologySpreadConstraints ?? [])
      addExpressions(constraint, metadata.labels ?? {});
  if (spec.os?.name !== 'windows') joinAppArmor(pod, minorOf(isOn) < 34);
}

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
} as const;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

type Labels = Readonly<Record<string, string>>;

/** Keys become expressions with the pod's own values, so that schedulers need not know of keys. */
function addLabelKeys({ affinity }: PodSpec, labels: Labels): void {
  for (const one of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const { podAffinityTerm } of one?.[PREFERRED] ?? [])
      if (podAffinityTerm !== undefined) addExpressions(podAffinityTerm, labels);
    for (const term of one?.[REQUIRED] ?? []) addExpressions(term, labels);
  }
}

/** Whether the keys of spread constraints become expressions too (Kubernetes 1.34). */
export const spreadsByLabelKeys = (isOn: Gates): boolean =>
  isOn('MatchLabelKeysInPodTopologySpread') && isOn('MatchLabelKeysInPodTopologySpreadSelectorMerge');

export type KeyedTerm = Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>;

function addExpressions(term: KeyedTerm, labels: Labels): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const toExpressions = (keys: readonly string[], operator: string): LabelSelectorRequirement[] =>
    keys.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const added = [...toExpressions(matchLabelKeys, 'In'), ...toExpressions(mismatchLabelKeys, 'NotIn')];
  if (added.length === 0 || labelSelector === undefined) return;
  labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...added];
}

/** Older nodes read the annotation, newer ones the field: copies each to the other, since 1.34 only to the field. */
function joinAppArmor({ metadata, spec = {} }: Pod, isToAnnotations: boolean): void {
  const { annotations = {} } = metadata;
  const ofPod = spec.securityContext?.appArmorProfile;
  const isInAnnotations = holdsAppArmor(annotations);
  const added: [key: string, profile: string][] = [];
  for (const list of CONTAINER_LISTS)
    for (const container of spec[list] ?? []) {
      const key = `${APP_ARMOR_PREFIX}${container.name ?? ''}`;
      const annotation = isInAnnotations ? annotations[key] : undefined;
      if (annotation !== undefined) toField(container, annotation, ofPod);
      else if (isToAnnotations) {
        const profile = toAnnotation(container.securityContext?.appArmorProfile ?? ofPod ?? {});
        if (profile !== undefined) added.push([key, profile]);
      }
    }
  if (added.length > 0) metadata.annotations = { ...annotations, ...Object.fromEntries(added) };
}

function toField(
  container: Container | EphemeralContainer,
  annotation: string,
  ofPod: AppArmorProfile | undefined,
): void {
  if (container.securityContext?.appArmorProfile !== undefined) return;
  const profile = fromAnnotation(annotation);
  if (profile === undefined || equal(profile, ofPod)) return;
  container.securityContext = { ...container.securityContext, appArmorProfile: profile };
}

/** A pod counts its generations since 1.33. Its placement on a node begins none. */
export const POD_GENERATION: GenerationRule<Pod> = {
  since: 33,
  hasChanged: ({ spec }, old) =>
    spec !== old.spec && !equal({ ...spec, nodeName: '' }, { ...old.spec, nodeName: '' }),
};

/** In 1.31 the containers of a pod are resized like any other change of it; later versions have a subresource for that. */
export function prepareUpdate(pod: Pod, old: Pod, isOn: Gates = defaultGates): void {
  if (minorOf(isOn) < 32) proposeResize(pod, old, isOn);
}

/**
 * A change of a running container's resources is a proposal to the node agent, which reports its allocation in the status (the
 * feature InPlacePodVerticalScaling).
 */
export function proposeResize(pod: Pod, old: Pod, isOn: Gates = defaultGates): void {
  if (!isOn('InPlacePodVerticalScaling')) return;
  const { spec = {}, status = {} } = pod;
  const before = old.spec?.containers ?? [];
  const isProposed = (spec.containers ?? []).some(({ name, resources }, at) => {
    if (resources?.requests === undefined || equal(before[at]?.resources, resources)) return false;
    const reported = status.containerStatuses?.find((one) => one.name === name);
    return reported !== undefined && !equal(reported.allocatedResources, resources.requests);
  });
  if (isProposed) pod.status = { ...status, resize: 'Proposed' };
}

/** Keeps the parts of the status that its writers leave out, and writes addresses in both forms. */
export function preparePodStatus({ metadata, status = {} }: Pod, old: Pod): void {
  // Old node agents drop unknown fields of owners, on which the garbage collector depends.
  if (old.metadata.ownerReferences === undefined) delete metadata.ownerReferences;
  else metadata.ownerReferences = old.metadata.ownerReferences;
  // Old node agents drop the class of pods that they refuse.
  if ((status.qosClass ?? '') === '' && old.status?.qosClass !== undefined)
    status.qosClass = old.status.qosClass;
  keepObserved(status, old.status ?? {});
  const first = status.podIPs?.[0]?.ip ?? '';
  const { podIP: single = '' } = status;
  if (single !== '' && single !== first) status.podIPs = [{ ip: single }];
  else if (first !== '') status.podIP = first;
}

/** Keeps the generations that a writer leaves out because it does not know them. Conditions of one type keep their order. */
function keepObserved(status: PodStatus, old: PodStatus): void {
  if ((status.observedGeneration ?? 0) === 0) Object.assign(status, observedIn(old));
  const known = Map.groupBy(old.conditions ?? [], ({ type }) => type);
  for (const condition of status.conditions ?? []) {
    const before = known.get(condition.type)?.shift();
    if ((condition.observedGeneration ?? 0) === 0 && before !== undefined)
      Object.assign(condition, observedIn(before));
  }
}

const observedIn = ({ observedGeneration }: PodStatus | PodCondition): PodCondition =>
  observedGeneration === undefined ? {} : { observedGeneration };

/**
 * The grace period of a pod: the requested one, or else its own. A pod that was never assigned to a node, or has ended, gets
 * none.
 */
export function podGracePeriod({ spec = {}, status = {} }: Pod, requested: number | undefined): number {
  const { phase } = status;
  if ((spec.nodeName ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = requested ?? Number(spec.terminationGracePeriodSeconds ?? 0);
  // Below zero was once accepted, and means as soon as can be.
  return seconds < 0 ? 1 : seconds;
}
