import {
  type Distribution,
  Histogram,
  type Instrument,
  type MetricFamily,
  Numbers,
} from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';

/** Which half of admission: its names in metrics. Webhooks that validate have a word of their own. */
export type Phase = 'admit' | 'validate';
type WebhookPhase = 'admit' | 'validating';

/** Kubernetes' buckets, so that its dashboards work (apiserver/pkg/admission/metrics). */
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const WEBHOOK_SECONDS = [...SECONDS, 10, 25];
const CONDITION_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const POLICY_SECONDS = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Times of one step by its outcome, each looked up once. An outcome that never happened has no series. */
export class Times {
  readonly #find: (rejected: string) => Distribution;
  #passed: Distribution | undefined;
  #rejected: Distribution | undefined;

  constructor(find: (rejected: string) => Distribution) {
    this.#find = find;
  }

  passed(ms: number): void {
    this.#passed ??= this.#find('false');
    this.#passed.observe(ms / 1000);
  }

  rejected(ms: number): void {
    this.#rejected ??= this.#find('true');
    this.#rejected.observe(ms / 1000);
  }
}

type RejectionCause = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error';
export type PolicyErrorType = 'no_error' | 'compile_error' | 'out_of_budget' | 'invalid_error';
export type PolicyAction = 'allow' | 'deny' | 'audit' | 'warn';

/** One call of a webhook. */
export interface WebhookCall {
  readonly name: string;
  readonly phase: WebhookPhase;
  readonly operation: string;
}

/** Conditions of a webhook or a policy. */
interface ConditionsOf {
  readonly name: string;
  readonly kind: 'webhook' | 'policy';
  readonly phase: Phase | WebhookPhase;
  readonly operation: string;
}

/** Larger codes would be labels without bound. */
const MAX_CODE = 600;

/** Metrics of admission, its webhooks and its policies, with the names and labels that Kubernetes' dashboards use. */
export class AdmissionMetrics {
  readonly #steps: Histogram;
  readonly #plugins: Histogram;
  readonly #webhooks: Histogram;
  readonly #webhookRequests: Numbers;
  readonly #webhookRejections: Numbers;
  readonly #failedOpen: Numbers;
  readonly #conditionErrors: Numbers;
  readonly #conditionExclusions: Numbers;
  readonly #conditionSeconds: Histogram;
  readonly #policyChecks: Numbers;
  readonly #policySeconds: Histogram;
  readonly #mutations: Numbers;
  readonly #mutationSeconds: Histogram;

  constructor(metrics: Metrics) {
    const counter = (name: string, help: string, labels: readonly string[]): Numbers =>
      metrics.add(new Numbers('counter', { name: `${ADMISSION}${name}`, help, labels }));
    const seconds = (name: string, help: string, labels: readonly string[], bounds = SECONDS): Histogram =>
      metrics.add(new Histogram({ name: `${ADMISSION}${name}_seconds`, help, labels }, bounds));
    const outcome = ['type', 'operation', 'rejected'];
    this.#steps = seconds('step_admission_duration', 'Time of all plugins of a phase together.', outcome);
    metrics.add(new Totals(this.#steps, `${ADMISSION}step_admission_duration_seconds_summary`));
    const named = ['name', ...outcome];
    this.#plugins = seconds('controller_admission_duration', 'Time of one plugin.', named);
    this.#webhooks = seconds('webhook_admission_duration', 'Time of one webhook.', named, WEBHOOK_SECONDS);
    this.#webhookRequests = counter('webhook_request_total', 'Calls of webhooks.', [
      ...['name', 'type', 'operation', 'code', 'rejected'],
    ]);
    this.#webhookRejections = counter(
      'webhook_rejection_count',
      'Writes that webhooks refused, or that failed with them.',
      [...['name', 'type', 'operation', 'error_type', 'rejection_code']],
    );
    this.#failedOpen = counter('webhook_fail_open_count', 'Failed calls of webhooks that were ignored.', [
      ...['name', 'type'],
    ]);
    const conditions = ['name', 'kind', 'type', 'operation'];
    this.#conditionErrors = counter(
      'match_condition_evaluation_errors_total',
      'Errors of match conditions.',
      conditions,
    );
    this.#conditionExclusions = counter(
      'match_condition_exclusions_total',
      'Webhooks that were left out because of a match condition.',
      conditions,
    );
    this.#conditionSeconds = seconds(
      'match_condition_evaluation',
      'Time of match conditions.',
      conditions,
      CONDITION_SECONDS,
    );
    const policies = (prefix: string, labels: readonly string[], what: string): [Numbers, Histogram] => [
      metrics.add(new Numbers('counter', { name: `${prefix}check_total`, help: `${what}.`, labels })),
      metrics.add(
        new Histogram(
          { name: `${prefix}check_duration_seconds`, help: `Time of ${what.toLowerCase()}.`, labels },
          POLICY_SECONDS,
        ),
      ),
    ];
    const policy = ['policy', 'policy_binding', 'error_type'];
    [this.#policyChecks, this.#policySeconds] = policies(
      VALIDATING,
      [...policy, 'enforcement_action'],
      'Validations of policies that had an effect',
    );
    [this.#mutations, this.#mutationSeconds] = policies(MUTATING, policy, 'Mutations of policies');
  }

  step(phase: Phase, operation: string): Times {
    return timesOf(this.#steps, phase, operation);
  }

  plugin(name: string, phase: Phase, operation: string): Times {
    return timesOf(this.#plugins, name, phase, operation);
  }

  /** `code`: of the answer that refused or failed; 200 for one that let pass. */
  webhookCalled({ name, phase, operation }: WebhookCall, ms: number, code: number, rejected: boolean): void {
    const shown = String(Math.min(code, MAX_CODE));
    this.#webhookRequests.at(name, phase, operation, shown, String(rejected)).add();
    this.#webhooks.at(name, phase, operation, String(rejected)).observe(ms / 1000);
  }

  webhookRejected({ name, phase, operation }: WebhookCall, cause: RejectionCause, code: number): void {
    this.#webhookRejections.at(name, phase, operation, cause, String(Math.min(code, MAX_CODE))).add();
  }

  failedOpen({ name, phase }: WebhookCall): void {
    this.#failedOpen.at(name, phase).add();
  }

  conditionFailed({ name, kind, phase, operation }: ConditionsOf): void {
    this.#conditionErrors.at(name, kind, phase, operation).add();
  }

  excluded({ name, kind, phase, operation }: ConditionsOf): void {
    this.#conditionExclusions.at(name, kind, phase, operation).add();
  }

  conditionsTook({ name, kind, phase, operation }: ConditionsOf, ms: number): void {
    this.#conditionSeconds.at(name, kind, phase, operation).observe(ms / 1000);
  }

  policyChecked(policy: string, binding: string, { error, action, ms }: PolicyCheck): void {
    this.#policyChecks.at(policy, binding, error, action).add();
    this.#policySeconds.at(policy, binding, error, action).observe(ms / 1000);
  }

  mutated(policy: string, binding: string, { error, ms }: PolicyRun): void {
    this.#mutations.at(policy, binding, error).add();
    this.#mutationSeconds.at(policy, binding, error).observe(ms / 1000);
  }
}

interface PolicyRun {
  readonly error: PolicyErrorType;
  readonly ms: number;
}

interface PolicyCheck extends PolicyRun {
  readonly action: PolicyAction;
}

/** What conditions of one webhook or policy report. */
export const reportConditions = (
  metrics: Pick<AdmissionMetrics, 'conditionFailed' | 'conditionsTook'>,
  of: ConditionsOf,
): { failed(): void; took(ms: number): void } => ({
  failed: () => metrics.conditionFailed(of),
  took: (ms) => metrics.conditionsTook(of, ms),
});

const ADMISSION = 'apiserver_admission_';
const VALIDATING = 'apiserver_validating_admission_policy_';
const MUTATING = 'apiserver_mutating_admission_policy_';

const timesOf = (histogram: Histogram, ...labels: string[]): Times =>
  new Times((rejected) => histogram.at(...labels, rejected));

/** The sums and counts of a histogram as a summary, without quantiles, which would cost too much. */
class Totals implements Instrument {
  readonly name: string;
  readonly #of: Histogram;

  constructor(of: Histogram, name: string) {
    this.name = name;
    this.#of = of;
  }

  collect(): MetricFamily {
    const { name: from, help, samples } = this.#of.collect();
    return {
      name: this.name,
      help,
      type: 'summary',
      samples: samples
        .filter((sample) => !sample.name.endsWith('_bucket'))
        .map((sample) => ({ ...sample, name: sample.name.replace(from, this.name) })),
    };
  }
}
