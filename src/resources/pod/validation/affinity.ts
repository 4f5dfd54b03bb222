import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeName } from '../../rules/names.ts';
import { validateNodeSelector, validateNodeSelectorTerm } from './node-selector.ts';

/** Where a pod must or should be: near what nodes and other pods, or far from them. */

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(at: FieldPath, affinity: Affinity): void {
  const { nodeAffinity = {}, podAffinity = {}, podAntiAffinity = {} } = affinity;
  validateNodeAffinity(at.field('nodeAffinity'), nodeAffinity);
  validatePodAffinity(at.field('podAffinity'), podAffinity);
  validatePodAffinity(at.field('podAntiAffinity'), podAntiAffinity);
}

function validateNodeAffinity(at: FieldPath, affinity: NodeAffinity): void {
  const required = affinity[REQUIRED];
  if (required !== undefined) validateNodeSelector(at.field(REQUIRED), required);
  for (const [path, { weight, preference = {} }] of at.field(PREFERRED).each(affinity[PREFERRED])) {
    validateWeight(path.field('weight'), weight);
    validateNodeSelectorTerm(path.field('preference'), preference);
  }
}

function validatePodAffinity(at: FieldPath, affinity: PodAffinity): void {
  for (const [path, term] of at.field(REQUIRED).each(affinity[REQUIRED])) validateTerm(path, term);
  for (const [path, { weight, podAffinityTerm = {} }] of at.field(PREFERRED).each(affinity[PREFERRED])) {
    validateWeight(path.field('weight'), weight);
    validateTerm(path.field('podAffinityTerm'), podAffinityTerm);
  }
}

const MAX_WEIGHT = 100;

function validateWeight(at: FieldPath, weight = 0): void {
  if (weight < 1 || weight > MAX_WEIGHT) at.invalid(weight, 'must be in the range 1-100');
}

function validateTerm(at: FieldPath, term: PodAffinityTerm): void {
  const { topologyKey = '', labelSelector, namespaceSelector, namespaces = [] } = term;
  mustBeLabelSelector(at.field('labelSelector'), labelSelector);
  mustBeLabelSelector(at.field('namespaceSelector'), namespaceSelector);
  for (const name of namespaces) mustBeName(at.field('namespace'), name, 'dns-label');
  validateLabelKeys(at, term);
  if (topologyKey === '') at.field('topologyKey').required('can not be empty');
  at.field('topologyKey').invalidFor(topologyKey, checkQualifiedName(topologyKey));
}

/** Labels whose values are taken from the pod itself, to be equal or to differ. */
function validateLabelKeys(at: FieldPath, term: PodAffinityTerm): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  validateKeys(at, term, 'matchLabelKeys');
  validateKeys(at, term, 'mismatchLabelKeys');
  for (const index of selectedTwice(term))
    at.item(index).invalid(matchLabelKeys[index], 'exists in both matchLabelKeys and labelSelector');
  for (const [path, key] of at.field('matchLabelKeys').each(matchLabelKeys))
    if (mismatchLabelKeys.includes(key))
      path.invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
}

function validateKeys(
  at: FieldPath,
  term: PodAffinityTerm,
  field: 'matchLabelKeys' | 'mismatchLabelKeys',
): void {
  const keys = term[field] ?? [];
  const path = at.field(field);
  if (keys.length > 0 && term.labelSelector === undefined)
    path.forbidden('must not be specified when labelSelector is not set');
  else for (const [item, key] of path.each(keys)) item.invalidFor(key, checkQualifiedName(key));
}

/**
 * Indexes of match keys that the selector names more than once. Once is allowed: the server itself adds an expression for
 * each key when the pod is created.
 */
function selectedTwice({ matchLabelKeys: keys = [], labelSelector = {} }: PodAffinityTerm): number[] {
  const seen = new Set(Object.keys(labelSelector.matchLabels ?? {}));
  const twice: number[] = [];
  for (const { key = '' } of labelSelector.matchExpressions ?? []) {
    if (seen.has(key) && keys.includes(key)) twice.push(keys.lastIndexOf(key));
    seen.add(key);
  }
  return twice;
}
