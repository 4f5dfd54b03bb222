import type { PodSpec, Toleration, TopologySpreadConstraint } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkLabelValue, checkQualifiedName } from '../../../object/formats.ts';
import { goToleration } from '../../rules/go-structs.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeOneOf } from '../../rules/names.ts';

/** What a scheduler goes by, besides affinity: taints that a pod bears, how it spreads, what it waits for. */

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
    validateTolerated(path.field('operator'), toleration);
  }
}

/** Kubernetes names the operator where the value is wrong. */
function validateTolerated(at: FieldPath, toleration: Toleration): void {
  const { operator = 'Equal', value = '' } = toleration;
  if (operator === 'Equal') {
    const reasons = checkLabelValue(value);
    if (reasons.length > 0) at.invalid(value, reasons.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') at.invalid(goToleration(toleration), "value must be empty when `operator` is 'Exists'");
  } else at.notSupported(operator, ['Equal', 'Exists']);
}

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(
  at: FieldPath,
  constraints: readonly TopologySpreadConstraint[],
): void {
  for (const [path, constraint, index] of at.each(constraints)) {
    const { maxSkew = 0, topologyKey: key = '', whenUnsatisfiable: action = '', labelSelector } = constraint;
    if (maxSkew <= 0) path.field('maxSkew').invalid(maxSkew, 'must be greater than zero');
    if (key === '') path.field('topologyKey').required('can not be empty');
    mustBeOneOf(path.field('whenUnsatisfiable'), action, ACTIONS);
    const isSaidAgain = constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === key && other.whenUnsatisfiable === action);
    if (isSaidAgain) path.field('{topologyKey, whenUnsatisfiable}').duplicate(`{${key}, ${action}}`);
    validateMinDomains(path.field('minDomains'), constraint);
    validateMatchLabelKeys(path.field('matchLabelKeys'), constraint);
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

/** What others must agree to before a pod is ready, and before it is placed. */
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
