import type { JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../cells.ts';

/** Labels of nodes that have a successor. The texts follow the field in a Warning header. */
const DEPRECATED_NODE_LABELS: Readonly<Record<string, string>> = {
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

/** Undefined for labels that are good to use. */
export const deprecationOf = (label: string): string | undefined =>
  Object.hasOwn(DEPRECATED_NODE_LABELS, label) ? DEPRECATED_NODE_LABELS[label] : undefined;

/** Warnings for the expressions of a node selector term, or of a label selector that selects nodes. */
export function warnOfExpressions(holder: JsonObject, path: string): string[] {
  return parts(holder, 'matchExpressions').flatMap((expression, at) => {
    const key = text(expression.key);
    const why = deprecationOf(key);
    return why === undefined ? [] : [`${path}.matchExpressions[${at}].key: ${key} is ${why}`];
  });
}

export function warnOfMatchLabels(selector: JsonObject, path: string): string[] {
  return Object.keys(part(selector, 'matchLabels')).flatMap((label) => {
    const why = deprecationOf(label);
    return why === undefined ? [] : [`${path}.matchLabels.${label}: ${why}`];
  });
}
