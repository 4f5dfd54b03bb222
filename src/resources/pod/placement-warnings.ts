import type { JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../cells.ts';

/** Labels of nodes that have newer names. */
const DEPRECATED_LABELS: Readonly<Record<string, string>> = {
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
};

/** Undefined for a label that is as good as any. */
export const deprecatedLabel = (label: string): string | undefined => DEPRECATED_LABELS[label];

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function placementWarnings(spec: JsonObject, path: string): string[] {
  return [
    ...Object.keys(part(spec, 'nodeSelector')).flatMap((label) => {
      const why = deprecatedLabel(label);
      return why === undefined ? [] : [`${path}.nodeSelector[${label}]: ${why}`];
    }),
    ...nodeAffinityWarnings(part(spec, 'affinity', 'nodeAffinity'), `${path}.affinity.nodeAffinity`),
    ...spreadWarnings(parts(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
      podAffinityWarnings(part(spec, 'affinity', kind), `${path}.affinity.${kind}`),
    ),
  ];
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
