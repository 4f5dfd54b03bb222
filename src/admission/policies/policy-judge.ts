import { StatusError, type StatusReason } from '../../api/status.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { table } from '../../util/text-table.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { AdmissionMetrics, PolicyAction, PolicyErrorType } from '../admission-metrics.ts';
import { type ConditionsReport, evaluateConditions } from '../match-conditions.ts';
import { refusal } from '../plugin.ts';
import { BudgetError, Evaluation, type Outcome } from './evaluation.ts';
import type { Rights } from './rights.ts';
import type { ValidatingBinding, ValidatingPolicy, Validation } from './validating.ts';

/** A policy's judgement of a request: a failure for each validation that does not hold, and the audit annotations. */
interface Judgement {
  readonly failures: readonly Failure[];
  /** Errors that let the request pass, because the policy fails open. */
  readonly ignored: readonly Failure[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Annotations that could not be made, which refuse a request under any actions of the binding. */
  readonly errors: readonly Failure[];
}

interface Failure {
  /** Of the validation. */
  readonly at: number;
  readonly message: string;
  readonly reason: string;
  /** How long the validation took. */
  readonly ms: number;
}

const ACCEPTED: Judgement = { failures: [], ignored: [], annotations: [], errors: [] };
const MAX_MESSAGE_CHARS = 5 * 1024;

const toError = (message: string, ms = 0, at = 0): Failure => ({ at, message, reason: '', ms });

/** (Kubernetes: admission/plugin/policy/validating, Validate.) */
export async function judge(
  policy: ValidatingPolicy,
  given: Bindings,
  rights: Rights,
  report: ConditionsReport,
): Promise<Judgement> {
  const { conditions, variables, failsClosed } = policy;
  if (conditions.length > 0) {
    const call = { given: { ...given, namespaceObject: null }, variables, rights, report };
    const met = await evaluateConditions(conditions, call);
    if ('why' in met) return failsClosed ? { ...ACCEPTED, failures: [toError(met.why)] } : ACCEPTED;
    if (!met.matches) return ACCEPTED;
  }
  try {
    return { ...(await validate(policy, given, rights)), ...(await annotate(policy, given, rights)) };
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    const failure = [toError(error.message)];
    return { ...ACCEPTED, ...(failsClosed ? { failures: failure } : { ignored: failure }) };
  }
}

async function validate(
  policy: ValidatingPolicy,
  given: Bindings,
  rights: Rights,
): Promise<Pick<Judgement, 'failures' | 'ignored'>> {
  const { validations, variables, failsClosed } = policy;
  const evaluation = new Evaluation(given, variables, { rights, budget: POLICY_BUDGET });
  const outcomes: Outcome[] = [];
  for (const { check } of validations) outcomes.push(await evaluation.run(check));
  const messages = new Evaluation(given, variables, { rights, budget: evaluation.left });
  const failures: Failure[] = [];
  const errors: Failure[] = [];
  for (const [at, validation] of validations.entries()) {
    const outcome = outcomes[at];
    if (outcome === undefined || ('value' in outcome && outcome.value === true)) continue;
    const { ms } = outcome;
    if ('value' in outcome) failures.push({ at, ms, ...(await refusalText(validation, messages)) });
    else (failsClosed ? failures : errors).push(toError(outcome.error, ms, at));
  }
  return { failures, ignored: errors };
}

/** The text about a validation that does not hold: its messageExpression, its message, or the expression. */
async function refusalText(
  { check, messageExpression, message, reason }: Validation,
  messages: Evaluation,
): Promise<{ message: string; reason: string }> {
  const made = messageExpression === undefined ? '' : messageOf(await tell(messages, messageExpression));
  return { message: made || message.trim() || `failed expression: ${check.expression.trim()}`, reason };
}

async function tell(messages: Evaluation, expression: Parameters<Evaluation['run']>[0]): Promise<Outcome> {
  try {
    return await messages.run(expression);
  } catch (error) {
    if (error instanceof BudgetError) return { error: error.message, ms: 0 };
    throw error;
  }
}

function messageOf(outcome: Outcome): string {
  if (!('value' in outcome) || typeof outcome.value !== 'string') return '';
  const message = outcome.value.trim();
  return message.includes('\n') || Buffer.byteLength(message) > MAX_MESSAGE_CHARS ? '' : message;
}

async function annotate(
  { annotations, variables, failsClosed }: ValidatingPolicy,
  given: Bindings,
  rights: Rights,
): Promise<Pick<Judgement, 'annotations' | 'errors'>> {
  const evaluation = new Evaluation(given, variables, { rights, budget: POLICY_BUDGET });
  const published: { key: string; value: string }[] = [];
  const errors: Failure[] = [];
  for (const { key, value: expression } of annotations) {
    const outcome = await evaluation.run(expression);
    if ('error' in outcome) {
      if (failsClosed) errors.push(toError(outcome.error, outcome.ms));
    } else if (typeof outcome.value === 'string') {
      const value = outcome.value.trim();
      if (value !== '') published.push({ key, value });
    } else if (outcome.value !== null) {
      const type = typeof outcome.value;
      const why = `valueExpression '${expression.expression}' resulted in unsupported return type: ${type}. Return type must be either string or null.`;
      errors.push(toError(why, outcome.ms));
    }
  }
  return { annotations: published, errors };
}

/** Budget for all expressions of one kind of one policy for one binding (Kubernetes: apis/cel, RuntimeCELCostBudget). */
export const POLICY_BUDGET = 10_000_000;

const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';
const MAX_ANNOTATION_BYTES = 10 * 1024;

/** A reason to refuse a request. The first one counts. */
export interface Denial {
  readonly policy: string;
  /** Undefined when the policy itself is invalid. */
  readonly binding?: string;
  readonly message: string;
  /** '' for none. */
  readonly reason: string;
}

/** Performs the binding's actions for failures. Returns the denials (Kubernetes: admission/plugin/policy/validating, Dispatch). */
export function act(
  attributes: AdmissionAttributes,
  policy: ValidatingPolicy,
  binding: ValidatingBinding,
  failure: Failure,
): Denial[] {
  const { message, reason } = failure;
  if (binding.actions.includes('Audit')) annotateFailure(attributes, binding, failure);
  if (binding.actions.includes('Warn')) {
    const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
    attributes.warn(`Validation failed for ${names}: ${message}`);
  }
  return binding.actions.includes('Deny')
    ? [{ policy: policy.name, binding: binding.name, message, reason }]
    : [];
}

function annotateFailure(
  attributes: AdmissionAttributes,
  binding: ValidatingBinding,
  { at, message }: Failure,
): void {
  const value = {
    message,
    policy: binding.policyName,
    binding: binding.name,
    expressionIndex: at,
    validationActions: binding.actions,
  };
  attributes.annotate(FAILURE_ANNOTATION, JSON.stringify([value]));
}

/** What metrics call the reason of a failure (Kubernetes: admission/plugin/policy/validating, ErrorType). */
function errorTypeOf(message: string): PolicyErrorType {
  if (message.startsWith('compilation')) return 'compile_error';
  if (message.startsWith('validation failed due to running out of cost budget')) return 'out_of_budget';
  return 'invalid_error';
}

const ACTIONS = { Deny: 'deny', Audit: 'audit', Warn: 'warn' } as const;

/** Counts what a judgement led to. */
export function count(
  metrics: Pick<AdmissionMetrics, 'policyChecked'>,
  policy: ValidatingPolicy,
  binding: ValidatingBinding,
  { failures, ignored, errors }: Judgement,
): void {
  const observe = (action: PolicyAction, { message, ms }: Failure): void =>
    metrics.policyChecked(policy.name, binding.name, { error: errorTypeOf(message), action, ms });
  for (const failure of failures) for (const action of binding.actions) observe(ACTIONS[action], failure);
  for (const failure of ignored) observe('allow', failure);
  for (const failure of errors) observe('deny', failure);
}

/** Values of one policy's annotations, by key; several bindings may have made different ones. */
export class AnnotationValues {
  readonly #values = new Map<string, string[]>();

  add(key: string, value: string): void {
    const bytes = Buffer.from(value);
    const kept =
      bytes.length > MAX_ANNOTATION_BYTES ? bytes.subarray(0, MAX_ANNOTATION_BYTES).toString() : value;
    const known = this.#values.get(key) ?? [];
    this.#values.set(key, known);
    if (!known.includes(kept)) known.push(kept);
  }

  publish(policy: string, attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values) attributes.annotate(`${policy}/${key}`, values.join(', '));
  }
}

const CODES: Readonly<Partial<Record<string, { code: number; reason: StatusReason }>>> = table({
  Forbidden: { code: 403, reason: 'Forbidden' },
  Unauthorized: { code: 401, reason: 'Unauthorized' },
  RequestEntityTooLarge: { code: 413, reason: 'RequestEntityTooLarge' },
});

export function denied(
  attributes: AdmissionAttributes,
  { policy, binding, message, reason }: Denial,
): StatusError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`;
  const { status } = refusal(attributes, why);
  return new StatusError({
    ...(CODES[reason] ?? { code: 422, reason: 'Invalid' }),
    message: status.message ?? '',
    details: { ...status.details, causes: [{ message: why }] },
  });
}
