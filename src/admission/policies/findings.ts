import { StatusError, type StatusReason } from '../../api/status.ts';
import { table } from '../../util/table.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { refusal } from '../plugin.ts';
import type { Failure } from './judge.ts';
import type { Binding, Policy } from './policy.ts';

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
