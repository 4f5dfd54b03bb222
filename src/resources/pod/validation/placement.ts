import type { Minor } from '../../../api/emulation.ts';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkLabelValue, checkQualifiedName } from '../../../object/text-formats.ts';
import { ratchetOf } from '../../rules/checked.ts';
import { goToleration } from '../../rules/go-structs.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeName, mustBeOneOf } from '../../rules/name-rules.ts';
import { type KeyedTerm, spreadsByLabelKeys } from '../preparation.ts';

/** The scheduler's input: tolerations, spread, scheduling gates, affinity. */

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(at: FieldPath, tolerations: readonly Toleration[] | undefined): void {
  for (const [path, toleration] of at.each(tolerations)) {
    const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
    if (key !== '') path.field('key').invalidFor(key, checkQualifiedName(key));
    if (key === '' && operator !== 'Exists')
      path
        .field('operator')
        .invalid(
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        );
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      path.field('effect').invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (effect !== '') mustBeOneOf(path.field('effect'), effect, EFFECTS);
    validateTolerated(path, toleration);
  }
}

const COMPARISON = 'TaintTolerationComparisonOperators';
const COMPARISONS = ['Lt', 'Gt'];
const DECIMAL = /^(0|-?[1-9]\d*)$/;

/** Whether the operator compares the values as numbers. */
const compares = (at: FieldPath, operator: string): boolean =>
  COMPARISONS.includes(operator) && at.isOn(COMPARISON);

/** Kubernetes names the operator where the value is wrong, except for a number. */
function validateTolerated(owner: FieldPath, toleration: Toleration): void {
  const at = owner.field('operator');
  const { operator = 'Equal', value = '' } = toleration;
  if (operator === 'Equal') {
    const reasons = checkLabelValue(value);
    if (reasons.length > 0) at.invalid(value, reasons.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') at.invalid(goToleration(toleration), "value must be empty when `operator` is 'Exists'");
  } else if (compares(at, operator)) {
    const path = owner.field('value');
    if (!DECIMAL.test(value)) path.invalid(value, 'must be a valid decimal integer in canonical form');
    else if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value))
      path.invalid(value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
  } else
    at.notSupported(
      operator,
      COMPARISONS.includes(operator) && at.minor >= 35
        ? ['Equal', 'Exists', ...COMPARISONS]
        : ['Equal', 'Exists'],
    );
}

/** The key that must be unique among a pod's constraints. */
const pairOf = ({ topologyKey = '', whenUnsatisfiable = '' }: TopologySpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(
  at: FieldPath,
  constraints: readonly TopologySpreadConstraint[],
): void {
  const left = new Map<string, number>();
  for (const constraint of constraints) left.set(pairOf(constraint), (left.get(pairOf(constraint)) ?? 0) + 1);
  for (const [path, constraint] of at.each(constraints)) {
    const { maxSkew = 0, topologyKey: key = '', whenUnsatisfiable: action = '', labelSelector } = constraint;
    if (maxSkew <= 0) path.field('maxSkew').invalid(maxSkew, 'must be greater than zero');
    if (key === '') path.field('topologyKey').required('can not be empty');
    mustBeOneOf(path.field('whenUnsatisfiable'), action, ACTIONS);
    const pair = pairOf(constraint);
    const later = (left.get(pair) ?? 0) - 1;
    left.set(pair, later);
    if (later > 0) path.field('{topologyKey, whenUnsatisfiable}').duplicate(pair);
    validateMinDomains(path.field('minDomains'), constraint);
    if (spreadsByLabelKeys(at.isOn)) validateLabelKeys(path, constraint);
    else validateMatchLabelKeys(path.field('matchLabelKeys'), constraint);
    mustBeLabelSelector(path.field('labelSelector'), labelSelector);
  }
}

function validateMinDomains(at: FieldPath, constraint: TopologySpreadConstraint): void {
  const { minDomains, whenUnsatisfiable: action = '' } = constraint;
  if (minDomains === undefined) return;
  if (minDomains <= 0) at.invalid(minDomains, 'must be greater than zero');
  if (action !== 'DoNotSchedule')
    at.invalid(minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`);
}

function validateMatchLabelKeys(at: FieldPath, constraint: TopologySpreadConstraint): void {
  const { matchLabelKeys: keys = [], labelSelector } = constraint;
  if (keys.length === 0) return;
  if (labelSelector === undefined) at.forbidden('must not be specified when labelSelector is not set');
  const selected = new Set([
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key = '' }) => key),
  ]);
  for (const [path, key] of at.each(keys)) {
    path.invalidFor(key, checkQualifiedName(key));
    if (selected.has(key)) path.invalid(key, 'exists in both matchLabelKeys and labelSelector');
  }
}

/** Gates: conditions that must hold before a pod is ready, and names that must go before it is placed. */
export function validateGates(at: FieldPath, { readinessGates, schedulingGates }: PodSpec): void {
  for (const [path, { conditionType = '' }] of at.field('readinessGates').each(readinessGates))
    path.field('conditionType').invalidFor(conditionType, checkQualifiedName(conditionType));
  const seen = new Set<string>();
  for (const [path, { name = '' }] of at.field('schedulingGates').each(schedulingGates)) {
    path.invalidFor(name, checkQualifiedName(name));
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
  }
}

/** Validates affinity: to nodes, to other pods, and away from them. */

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
function validateLabelKeys(at: FieldPath, term: KeyedTerm): void {
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  validateKeys(at, term, 'matchLabelKeys');
  validateKeys(at, term, 'mismatchLabelKeys');
  for (const index of selectedTwice(term))
    at.item(index).invalid(matchLabelKeys[index], 'exists in both matchLabelKeys and labelSelector');
  for (const [path, key] of at.field('matchLabelKeys').each(matchLabelKeys))
    if (mismatchLabelKeys.includes(key))
      path.invalid(key, 'exists in both matchLabelKeys and mismatchLabelKeys');
}

function validateKeys(at: FieldPath, term: KeyedTerm, field: 'matchLabelKeys' | 'mismatchLabelKeys'): void {
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
function selectedTwice({ matchLabelKeys: keys = [], labelSelector = {} }: KeyedTerm): number[] {
  const seen = new Set(Object.keys(labelSelector.matchLabels ?? {}));
  const twice: number[] = [];
  for (const { key = '' } of labelSelector.matchExpressions ?? []) {
    if (seen.has(key) && keys.includes(key)) twice.push(keys.lastIndexOf(key));
    seen.add(key);
  }
  return twice;
}

/**
 * Nodes for which one of its terms holds. Volumes have one, too. `judgedSince`: the version since which values must be values of
 * labels.
 */
export function validateNodeSelector(
  at: FieldPath,
  { nodeSelectorTerms }: NodeSelector,
  judgedSince: Minor = 33,
): void {
  const terms = nodeSelectorTerms ?? [];
  const path = at.field('nodeSelectorTerms');
  if (terms.length === 0) path.required('must have at least one node selector term');
  for (const [item, term] of path.each(terms)) {
    validateNodeSelectorTerm(item, term);
    if (at.minor >= judgedSince) mustBeLabelValues(item.field('matchExpressions'), term.matchExpressions);
  }
}

function mustBeLabelValues(
  at: FieldPath,
  requirements: readonly NodeSelectorRequirement[] | undefined,
): void {
  for (const [path, { values }] of at.each(requirements))
    for (const [item, value] of path.field('values').each(values))
      item.invalidFor(value, checkLabelValue(value));
}

/** Values that were stored before they were judged. */
export const NODE_VALUES = ratchetOf(/nodeAffinity\.required.*\.matchExpressions\[\d+\]\.values\[\d+\]$/);

function validateNodeSelectorTerm(at: FieldPath, { matchExpressions, matchFields }: NodeSelectorTerm): void {
  for (const [path, requirement] of at.field('matchExpressions').each(matchExpressions)) {
    const { key = '' } = requirement;
    validateValues(path, requirement);
    path.field('key').invalidFor(key, checkQualifiedName(key));
  }
  for (const [path, requirement] of at.field('matchFields').each(matchFields))
    validateField(path, requirement);
}

function validateValues(at: FieldPath, { operator = '', values = [] }: NodeSelectorRequirement): void {
  const path = at.field('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) path.required("must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        path.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      return;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        path.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      return;
    default:
      at.field('operator').invalid(operator, 'not a valid selector operator');
  }
}

/** The only field of nodes for selection is the name, with one value. */
function validateField(at: FieldPath, requirement: NodeSelectorRequirement): void {
  const { operator = '', key = '', values = [] } = requirement;
  if (operator !== 'In' && operator !== 'NotIn')
    at.field('operator').invalid(operator, 'not a valid selector operator');
  else if (values.length !== 1)
    at.field('values').required(
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    );
  if (key !== 'metadata.name') {
    at.field('key').invalid(key, 'not a valid field selector key');
    return;
  }
  for (const [path, value] of at.field('values').each(values)) mustBeName(path, value, 'dns-subdomain');
}
