import { setImmediate as nextTurn } from 'node:timers/promises';
import { StatusError, type StatusReason } from '../../api/status.ts';
import { describeFailure } from '../../cel/issues.ts';
import { type Bindings, PolicyVariables } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import { table } from '../../util/table.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { refusal } from '../plugin.ts';
import type { Binding, Policy, Validation } from './policy.ts';
import type { Rights } from './rights.ts';

/** A policy's judgement of a request: a failure for each validation that does not hold, and the audit annotations. */
interface Judgement {
  readonly failures: readonly Failure[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Annotations that could not be made, which refuse a request whatever the binding's actions. */
  readonly errors: readonly string[];
}

export interface Failure {
  /** Of the validation. */
  readonly at: number;
  readonly message: string;
  readonly reason: string;
}

const ACCEPTED: Judgement = { failures: [], annotations: [], errors: [] };
const MAX_MESSAGE_CHARS = 5 * 1024;

/** (Kubernetes: admission/plugin/policy/validating, Validate.) */
export async function judge(policy: Policy, given: Bindings, rights: Rights): Promise<Judgement> {
  const failed = (message: string): Judgement =>
    policy.failsClosed ? { ...ACCEPTED, failures: [{ at: 0, message, reason: '' }] } : ACCEPTED;
  try {
    const unmet = await unmetConditions(policy, { ...given, namespaceObject: null }, rights);
    if (unmet !== undefined) return unmet === '' ? ACCEPTED : failed(unmet);
    const failures = await validate(policy, given, rights);
    return { failures, ...(await annotate(policy, given, rights)) };
  } catch (error) {
    if (error instanceof BudgetError) return failed(error.message);
    throw error;
  }
}

/** Undefined: all conditions are met. '': one is not met. Otherwise the errors. @throws BudgetError */
async function unmetConditions(
  { conditions, variables }: Policy,
  given: Bindings,
  rights: Rights,
): Promise<string | undefined> {
  if (conditions.length === 0) return undefined;
  const evaluation = new Evaluation(given, variables, { rights, budget: CONDITIONS_BUDGET });
  const outcomes: Outcome[] = [];
  for (const { check } of conditions) outcomes.push(await evaluation.run(check));
  if (outcomes.some((outcome) => 'value' in outcome && outcome.value === false)) return '';
  const errors = [...new Set(outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : [])))];
  if (errors.length === 0) return undefined;
  return errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
}

async function validate(policy: Policy, given: Bindings, rights: Rights): Promise<Failure[]> {
  const { validations, variables, failsClosed } = policy;
  const evaluation = new Evaluation(given, variables, { rights, budget: BUDGET });
  const outcomes: Outcome[] = [];
  for (const { check } of validations) outcomes.push(await evaluation.run(check));
  const messages = new Evaluation(given, variables, { rights, budget: evaluation.left });
  const failures: Failure[] = [];
  for (const [at, validation] of validations.entries()) {
    const outcome = outcomes[at];
    if (outcome === undefined || ('value' in outcome && outcome.value === true)) continue;
    if ('value' in outcome) failures.push({ at, ...(await refusalText(validation, messages)) });
    else if (failsClosed) failures.push({ at, message: outcome.error, reason: '' });
  }
  return failures;
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
    if (error instanceof BudgetError) return { error: error.message };
    throw error;
  }
}

function messageOf(outcome: Outcome): string {
  if (!('value' in outcome) || typeof outcome.value !== 'string') return '';
  const message = outcome.value.trim();
  return message.includes('\n') || Buffer.byteLength(message) > MAX_MESSAGE_CHARS ? '' : message;
}

async function annotate(
  { annotations, variables, failsClosed }: Policy,
  given: Bindings,
  rights: Rights,
): Promise<Pick<Judgement, 'annotations' | 'errors'>> {
  const evaluation = new Evaluation(given, variables, { rights, budget: BUDGET });
  const published: { key: string; value: string }[] = [];
  const errors: string[] = [];
  for (const { key, value: expression } of annotations) {
    const outcome = await evaluation.run(expression);
    if ('error' in outcome) {
      if (failsClosed) errors.push(outcome.error);
    } else if (typeof outcome.value === 'string') {
      const value = outcome.value.trim();
      if (value !== '') published.push({ key, value });
    } else if (outcome.value !== null) {
      const type = typeof outcome.value;
      errors.push(
        `valueExpression '${expression.expression}' resulted in unsupported return type: ${type}. Return type must be either string or null.`,
      );
    }
  }
  return { annotations: published, errors };
}

/** Budget for all expressions of one kind of one policy for one binding (Kubernetes: apis/cel, RuntimeCELCostBudget). */
const BUDGET = 10_000_000;
const CONDITIONS_BUDGET = 2_500_000;

/** Expressions yield the event loop after this time. */
const TURN_MS = 10;

type Outcome = { readonly value: unknown } | { readonly error: string };

class BudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Runs expressions one after the other on the same variables, within one budget. */
class Evaluation {
  readonly #rights: Rights;
  readonly #bindings: Bindings;
  readonly #variables: PolicyVariables;
  #left: number;
  #since = performance.now();

  constructor(
    given: Bindings,
    variables: ReadonlyMap<string, Compiled>,
    { rights, budget }: { rights: Rights; budget: number },
  ) {
    this.#rights = rights;
    this.#left = budget;
    this.#variables = new PolicyVariables(variables, () => this.#bindings, budget);
    this.#bindings = { ...given, variables: this.#variables };
  }

  get left(): number {
    return this.#left;
  }

  /** @throws BudgetError */
  async run(compiled: Compiled): Promise<Outcome> {
    if (compiled.program === undefined) return { error: `compilation error: ${compiled.problem}` };
    if (performance.now() - this.#since > TURN_MS) {
      await nextTurn();
      this.#since = performance.now();
    }
    for (;;) {
      try {
        const { result, cost } = compiled.program.run(this.#bindings);
        this.#charge(cost + this.#variables.takeCost());
        return { value: result };
      } catch (error) {
        if (error instanceof BudgetError) throw error;
        this.#charge(this.#variables.takeCost());
        if (!this.#rights.open)
          return {
            error: `expression '${compiled.expression}' resulted in error: ${describeFailure(error)}`,
          };
        await this.#rights.settle();
      }
    }
  }

  #charge(cost: number): void {
    if (cost > this.#left) throw new BudgetError();
    this.#left -= cost;
  }
}

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
  policy: Policy,
  binding: Binding,
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

function annotateFailure(attributes: AdmissionAttributes, binding: Binding, { at, message }: Failure): void {
  const value = {
    message,
    policy: binding.policyName,
    binding: binding.name,
    expressionIndex: at,
    validationActions: binding.actions,
  };
  attributes.annotate(FAILURE_ANNOTATION, JSON.stringify([value]));
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
