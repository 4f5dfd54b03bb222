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
  mustHaveAtMost(list, MAX_RULES, restartPolicyRules);
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
  mustHaveAtMost(at.field('values'), MAX_CODES, values);
}

/** Until 1.35, a list is too long, as if it were a text. */
function mustHaveAtMost(at: FieldPath, most: number, items: readonly unknown[]): void {
  if (items.length <= most) return;
  if (at.minor < 36) at.tooLong(most);
  else at.tooMany(items.length, most);
}

/** The rules of an init container. One that runs beside the others has none, unless rules may restart all containers. */
export function validateInitRestarts(at: FieldPath, container: Container): void {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy !== 'Always' || at.isOn('RestartAllContainersOnContainerExits'))
    validateRestarts(at, container);
  else if (rules.length > 0)
    at.field('restartPolicyRules').forbidden(
      'restartPolicyRules are not allowed for init containers with restart policy Always',
    );
}
