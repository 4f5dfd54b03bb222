import type {
  Container,
  ContainerRestartRule,
  ContainerRestartRuleOnExitCodes,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';

/** When a container is started again, apart from the rest of its pod (feature ContainerRestartRules). */

const POLICIES = ['Always', 'Never', 'OnFailure'];
const MAX_RULES = 20;

/** `at` is the container. */
export function validateRestarts(at: FieldPath, { restartPolicy, restartPolicyRules }: Container): void {
  if (restartPolicy !== undefined && !POLICIES.includes(restartPolicy))
    at.field('restartPolicy').notSupported(restartPolicy, POLICIES);
  if (restartPolicyRules === undefined || restartPolicyRules.length === 0) return;
  if (restartPolicy === undefined)
    at.field('restartPolicy').required('must specify restartPolicy when restart rules are used');
  const list = at.field('restartPolicyRules');
  if (restartPolicyRules.length > MAX_RULES) list.tooMany(restartPolicyRules.length, MAX_RULES);
  for (const [path, rule] of list.each(restartPolicyRules)) validateRule(path, rule);
}

function validateRule(at: FieldPath, { action = '', exitCodes }: ContainerRestartRule): void {
  const restartsAll = at.isOn('RestartAllContainersOnContainerExits');
  const actions = restartsAll ? ['Restart', 'RestartAllContainers'] : ['Restart'];
  if (!actions.includes(action)) at.field('action').notSupported(action, actions);
  if (exitCodes === undefined) at.field('exitCodes').required('must be specified');
  else validateExitCodes(at.field('exitCodes'), exitCodes);
}

const OPERATORS = ['In', 'NotIn'];
const MAX_CODES = 255;

function validateExitCodes(at: FieldPath, codes: ContainerRestartRuleOnExitCodes): void {
  const { operator = '', values = [] } = codes;
  if (!OPERATORS.includes(operator)) at.field('operator').notSupported(operator, OPERATORS);
  if (values.length > MAX_CODES) at.field('values').tooMany(values.length, MAX_CODES);
  for (const [path, value, index] of at.field('values').each(values))
    if (values.indexOf(value) < index) path.duplicate(value);
}
