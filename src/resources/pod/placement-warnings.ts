import type {
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
  TopologySpreadConstraint,
} from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkLabelValue } from '../../object/text-formats.ts';
import { table } from '../../util/text-table.ts';

/** Labels of nodes that have newer names. */
const DEPRECATED_LABELS: Readonly<Record<string, string>> = table({
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
});

/** Undefined for a label that is as good as any. */
export const deprecatedLabel = (label: string): string | undefined => DEPRECATED_LABELS[label];

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** `at` is the pod spec. */
export function addPlacementWarnings(said: string[], at: FieldPath, spec: PodSpec): void {
  for (const [path, label] of at.field('nodeSelector').entries(spec.nodeSelector)) {
    const why = deprecatedLabel(label);
    if (why !== undefined) said.push(`${path}: ${why}`);
  }
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const path = at.field('affinity');
  if (nodeAffinity !== undefined) addNodeAffinityWarnings(said, path.field('nodeAffinity'), nodeAffinity);
  if (spec.topologySpreadConstraints !== undefined)
    addSpreadWarnings(said, at.field('topologySpreadConstraints'), spec.topologySpreadConstraints);
  if (podAffinity !== undefined) addPodAffinityWarnings(said, path.field('podAffinity'), podAffinity);
  if (podAntiAffinity !== undefined)
    addPodAffinityWarnings(said, path.field('podAntiAffinity'), podAntiAffinity);
}

function addNodeAffinityWarnings(said: string[], at: FieldPath, affinity: NodeAffinity): void {
  const terms = at.field(REQUIRED).field('nodeSelectorTerms');
  for (const [path, term] of terms.each(affinity[REQUIRED]?.nodeSelectorTerms))
    addNodeTermWarnings(said, path, term);
  for (const [path, { preference = {} }] of at.field(PREFERRED).each(affinity[PREFERRED]))
    addPreferenceWarnings(said, path.field('preference'), preference);
}

/** The values of a preference are not validated; since 1.33 a caller learns of wrong ones. */
function addPreferenceWarnings(said: string[], at: FieldPath, term: NodeSelectorTerm): void {
  addNodeTermWarnings(said, at, term);
  if (at.minor < 33) return;
  for (const [path, { values }] of at.field('matchExpressions').each(term.matchExpressions))
    for (const [item, value] of path.field('values').each(values))
      for (const why of checkLabelValue(value)) said.push(`${item}: ${value} is invalid, ${why}`);
}

/** Warns about a node selector's term, in pods and volumes. */
export function addNodeTermWarnings(said: string[], at: FieldPath, term: NodeSelectorTerm): void {
  for (const [path, { key = '' }] of at.field('matchExpressions').each(term.matchExpressions)) {
    const why = deprecatedLabel(key);
    if (why !== undefined) said.push(`${path}.key: ${key} is ${why}`);
  }
}

const SELECTS_NOTHING = 'a null labelSelector results in matching no pod';

function addSpreadWarnings(
  said: string[],
  at: FieldPath,
  constraints: readonly TopologySpreadConstraint[],
): void {
  for (const [path, { topologyKey = '', labelSelector }] of at.each(constraints)) {
    const why = deprecatedLabel(topologyKey);
    if (why !== undefined) said.push(`${path}.topologyKey: ${topologyKey} is ${why}`);
    if (labelSelector === undefined) said.push(`${path}.labelSelector: ${SELECTS_NOTHING}`);
  }
}

function addPodAffinityWarnings(said: string[], at: FieldPath, affinity: PodAffinity): void {
  for (const [path, { labelSelector }] of at.field(REQUIRED).each(affinity[REQUIRED]))
    if (labelSelector === undefined) said.push(`${path}.labelSelector: ${SELECTS_NOTHING}`);
  for (const [path, { podAffinityTerm }] of at.field(PREFERRED).each(affinity[PREFERRED]))
    if (podAffinityTerm?.labelSelector === undefined)
      said.push(`${path}.podAffinityTerm.labelSelector: ${SELECTS_NOTHING}`);
}
