import type { JsonObject } from '../../api/object-meta.ts';
import { objectOf, objectsOf, part, parts, text } from '../../object/parts.ts';
import { table } from '../../util/table.ts';
import { addAll } from '../validation/values.ts';

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

export function addPlacementWarnings(said: string[], spec: JsonObject, path: string): void {
  for (const label of Object.keys(objectOf(spec.nodeSelector))) {
    const why = deprecatedLabel(label);
    if (why !== undefined) said.push(`${path}.nodeSelector[${label}]: ${why}`);
  }
  const { nodeAffinity, podAffinity, podAntiAffinity } = objectOf(spec.affinity);
  const at = `${path}.affinity`;
  const spread = objectsOf(spec.topologySpreadConstraints);
  if (nodeAffinity !== undefined)
    addAll(said, nodeAffinityWarnings(objectOf(nodeAffinity), `${at}.nodeAffinity`));
  if (spread.length > 0) addAll(said, spreadWarnings(spread, `${path}.topologySpreadConstraints`));
  if (podAffinity !== undefined)
    addAll(said, podAffinityWarnings(objectOf(podAffinity), `${at}.podAffinity`));
  if (podAntiAffinity !== undefined)
    addAll(said, podAffinityWarnings(objectOf(podAntiAffinity), `${at}.podAntiAffinity`));
}

function nodeAffinityWarnings(affinity: JsonObject, path: string): string[] {
  const terms = parts(part(affinity, REQUIRED), 'nodeSelectorTerms');
  return [
    ...terms.flatMap((term, at) => nodeTermWarnings(term, `${path}.${REQUIRED}.nodeSelectorTerms[${at}]`)),
    ...parts(affinity, PREFERRED).flatMap((term, at) =>
      nodeTermWarnings(part(term, 'preference'), `${path}.${PREFERRED}[${at}].preference`),
    ),
  ];
}

/** Of a node selector's term; volumes have such terms, too. */
export function nodeTermWarnings(term: JsonObject, path: string): string[] {
  return parts(term, 'matchExpressions').flatMap(({ key }, at) => {
    const why = deprecatedLabel(text(key));
    return why === undefined ? [] : [`${path}.matchExpressions[${at}].key: ${text(key)} is ${why}`];
  });
}

const SELECTS_NOTHING = 'a null labelSelector results in matching no pod';

function spreadWarnings(constraints: readonly JsonObject[], path: string): string[] {
  return constraints.flatMap(({ topologyKey, labelSelector }, at) => {
    const why = deprecatedLabel(text(topologyKey));
    return [
      ...(why === undefined ? [] : [`${path}[${at}].topologyKey: ${text(topologyKey)} is ${why}`]),
      ...(labelSelector === undefined ? [`${path}[${at}].labelSelector: ${SELECTS_NOTHING}`] : []),
    ];
  });
}

function podAffinityWarnings(affinity: JsonObject, path: string): string[] {
  const terms = [
    ...parts(affinity, REQUIRED).map((term, at) => ({ term, at: `${REQUIRED}[${at}]` })),
    ...parts(affinity, PREFERRED).map((term, at) => ({
      term: part(term, 'podAffinityTerm'),
      at: `${PREFERRED}[${at}].podAffinityTerm`,
    })),
  ];
  return terms
    .filter(({ term }) => term.labelSelector === undefined)
    .map(({ at }) => `${path}.${at}.labelSelector: ${SELECTS_NOTHING}`);
}
