import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { objectOf, objectsOf, part, parts, text } from '../../object/parts.ts';
import { qosClass } from '../../object/pod-qos.ts';
import { strings } from '../validation/values.ts';
import { CONTAINER_LISTS } from './containers-of.ts';
import { withCondition } from './pod-conditions.ts';
import { APP_ARMOR_PREFIX, fromAnnotation, holdsAppArmor, toAnnotation } from './profiles.ts';

/** What the server makes of a pod before it is stored for the first time (Kubernetes: pod strategy, PrepareForCreate). */
export function preparePod(pod: ApiObject): void {
  const spec = part(pod, 'spec');
  const status = { phase: 'Pending', qosClass: qosClass(spec) };
  const gated = parts(spec, 'schedulingGates').length > 0;
  pod.status = gated ? withCondition(status, GATED) : status;
  addLabelKeys(spec, pod.metadata.labels ?? {});
  if (part(spec, 'os').name !== 'windows') joinAppArmor(pod);
}

const GATED = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
} as const;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Keys become expressions with the pod's own values, so that schedulers need not know of keys. */
function addLabelKeys(spec: JsonObject, labels: Readonly<Record<string, string>>): void {
  if (spec.affinity === undefined) return;
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = part(spec, 'affinity', kind);
    const preferred = parts(affinity, PREFERRED).map((term) => part(term, 'podAffinityTerm'));
    for (const term of [...preferred, ...parts(affinity, REQUIRED)]) addExpressions(term, labels);
  }
}

function addExpressions(term: JsonObject, labels: Readonly<Record<string, string>>): void {
  const toExpressions = (field: string, operator: string): JsonObject[] =>
    strings(term, field).flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  const added = [...toExpressions('matchLabelKeys', 'In'), ...toExpressions('mismatchLabelKeys', 'NotIn')];
  if (added.length === 0 || term.labelSelector === undefined) return;
  const selector = part(term, 'labelSelector');
  selector.matchExpressions = [...parts(selector, 'matchExpressions'), ...added];
}

/** Nodes of older versions read the annotation, newer ones the field: each gets what was said in the other. */
function joinAppArmor(pod: ApiObject): void {
  const spec = part(pod, 'spec');
  const { appArmorProfile: ofPod } = objectOf(spec.securityContext);
  for (const list of CONTAINER_LISTS) {
    for (const container of objectsOf(spec[list])) {
      const own = objectOf(container.securityContext).appArmorProfile;
      if (own !== undefined || ofPod !== undefined || holdsAppArmor(pod.metadata.annotations))
        joinProfile(pod, spec, container);
    }
  }
}

function joinProfile(pod: ApiObject, spec: JsonObject, container: JsonObject): void {
  const key = `${APP_ARMOR_PREFIX}${text(container.name)}`;
  const annotation = pod.metadata.annotations?.[key];
  const own = part(container, 'securityContext').appArmorProfile;
  if (annotation === undefined) annotate(pod, key, own === undefined ? spec : container);
  else if (own === undefined) {
    const profile = fromAnnotation(annotation);
    if (profile === undefined || equal(profile, part(spec, 'securityContext').appArmorProfile)) return;
    container.securityContext = { ...part(container, 'securityContext'), appArmorProfile: profile };
  }
}

function annotate(pod: ApiObject, key: string, holder: JsonObject): void {
  const annotation = toAnnotation(part(holder, 'securityContext', 'appArmorProfile'));
  if (annotation === undefined) return;
  pod.metadata.annotations = { ...pod.metadata.annotations, [key]: annotation };
}

/** What writers of a status leave as it was, and addresses in both of their forms. */
export function preparePodStatus(pod: ApiObject, old: ApiObject): void {
  // Old node agents lose fields of owners they do not know, and with them what the garbage collector goes by.
  if (old.metadata.ownerReferences === undefined) delete pod.metadata.ownerReferences;
  else pod.metadata.ownerReferences = old.metadata.ownerReferences;
  const status = part(pod, 'status');
  const first = text(parts(status, 'podIPs')[0]?.ip);
  const single = text(status.podIP);
  if (single !== '' && single !== first) status.podIPs = [{ ip: single }];
  else if (first !== '') status.podIP = first;
}
