import type { Registry } from 'prom-client';
import type { ObjectMeta } from '../../api/object-meta.ts';
import { forbidden } from '../../api/status.ts';
import type { Container, EphemeralContainer, Pod, PodSpec } from '../../api/types/core/v1.ts';
import { registerFamily } from '../../observability/tallies.ts';
import { VERSION } from '../../version.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { detailsOf, type Evaluator } from './evaluator.ts';
import {
  LATEST,
  type Labelled,
  type LevelVersion,
  type Mode,
  type Policy,
  PREFIX,
  PRIVILEGED,
  toText,
} from './namespace-levels.ts';
import { toCheckedPod, type Violation } from './pod-check.ts';

/** A pod, or the pod template of a workload. */
export interface PodTemplate {
  readonly annotations: ObjectMeta['annotations'];
  readonly spec: PodSpec;
}

interface JudgeOptions {
  readonly evaluator: Evaluator;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
  readonly metrics: PodSecurityMetrics;
  readonly relaxesOwnUsers: boolean;
}

/** Checks pods by the policy of their namespace, and reports violations as refusals, audit annotations and warnings. */
export class PodJudge {
  readonly #options: JudgeOptions;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /**
   * Violations are recorded and warned about; `enforce` refuses the pod for them.
   * @throws StatusError 403
   */
  judge(
    attributes: AdmissionAttributes,
    { policy, errors }: Labelled,
    { annotations, spec }: PodTemplate,
    consequence: 'enforce' | 'report',
  ): void {
    const { metrics, exemptRuntimeClasses, relaxesOwnUsers } = this.#options;
    if (exemptRuntimeClasses.has(spec.runtimeClassName ?? '')) {
      metrics.exempted(attributes);
      attributes.annotate(`${PREFIX}exempt`, 'runtimeClass');
      return;
    }
    if (errors.length > 0) {
      const texts = new Set(errors.map(({ field, message }) => `${field}: ${message}`));
      const all = texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`;
      attributes.annotate(`${PREFIX}error`, `Failed to parse policy: ${all}`);
      metrics.failed(attributes, false);
    }
    const violationsOf = this.#remembering(toCheckedPod(annotations, spec, relaxesOwnUsers));
    const refusal = consequence === 'enforce' ? this.#enforce(attributes, policy, violationsOf) : undefined;
    const audit = this.#describe(attributes, 'audit', policy, violationsOf);
    if (audit !== undefined) attributes.annotate(`${PREFIX}audit-violations`, audit);
    // A refusal needs no warning.
    if (refusal !== undefined) throw forbidden(attributes.definition, attributes.name, refusal);
    const warning = this.#describe(attributes, 'warn', policy, violationsOf);
    if (warning !== undefined) attributes.warn(warning);
  }

  /** Remembers results, because modes often have the same level and version. */
  #remembering(pod: ReturnType<typeof toCheckedPod>): (policy: LevelVersion) => Violation[] {
    const known = new Map<string, Violation[]>();
    return (policy) => {
      const key = toText(policy);
      const violations = known.get(key) ?? this.#options.evaluator.violationsOf(policy, pod);
      known.set(key, violations);
      return violations;
    };
  }

  #enforce(
    attributes: AdmissionAttributes,
    { enforce }: Policy,
    violationsOf: (policy: LevelVersion) => Violation[],
  ): string | undefined {
    attributes.annotate(`${PREFIX}enforce-policy`, toText(enforce));
    const violations = violationsOf(enforce);
    const decision = violations.length === 0 ? 'allow' : 'deny';
    this.#options.metrics.evaluated(attributes, 'enforce', enforce, decision);
    if (violations.length === 0) return undefined;
    return `violates PodSecurity "${toText(enforce)}": ${detailsOf(violations)}`;
  }

  #describe(
    attributes: AdmissionAttributes,
    mode: Exclude<Mode, 'enforce'>,
    policy: Policy,
    violationsOf: (policy: LevelVersion) => Violation[],
  ): string | undefined {
    const violations = violationsOf(policy[mode]);
    if (violations.length === 0) return undefined;
    this.#options.metrics.evaluated(attributes, mode, policy[mode], 'deny');
    return `would violate PodSecurity "${toText(policy[mode])}": ${detailsOf(violations)}`;
  }
}

/**
 * Whether an update of a pod must be checked: it adds containers or changes images. No other change can violate the policy, and
 * a pod that was allowed once must be able to end.
 */
export function isSignificant({ spec = {} }: Pod, { spec: old = {} }: Pod): boolean {
  return (
    differ(spec.containers ?? [], old.containers ?? []) ||
    differ(spec.initContainers ?? [], old.initContainers ?? []) ||
    addsEphemeral(spec.ephemeralContainers ?? [], old.ephemeralContainers ?? [])
  );
}

const differ = (containers: readonly Container[], old: readonly Container[]): boolean =>
  containers.length !== old.length || containers.some(({ image }, at) => image !== old[at]?.image);

const addsEphemeral = (
  containers: readonly EphemeralContainer[],
  old: readonly EphemeralContainer[],
): boolean =>
  containers.some(({ name, image }) => {
    const before = old.find((one) => one.name === name);
    return before === undefined || before.image !== image;
  });

/** The newest version whose checks this server knows: policies of later ones are counted together. */
const NEWEST = Number(VERSION.minor);

/** The names are Kubernetes' (pod-security-admission, metrics/metrics.go). */
export class PodSecurityMetrics {
  readonly #evaluations: Tally;
  readonly #exemptions: Tally;
  readonly #errors: Tally;
  readonly #created: Cell;
  readonly #updated: Cell;

  constructor(registry: Registry) {
    this.#evaluations = new Tally(registry, {
      name: 'pod_security_evaluations_total',
      help: 'Policies that pods were held against, not counting exempt requests.',
      labels: ['decision', 'policy_level', 'policy_version', 'mode', ...OF_REQUESTS],
    });
    this.#created = this.#evaluations.cell('allow privileged latest enforce CREATE pod ');
    this.#updated = this.#evaluations.cell('allow privileged latest enforce UPDATE pod ');
    this.#exemptions = new Tally(registry, {
      name: 'pod_security_exemptions_total',
      help: 'Exempt requests.',
      labels: OF_REQUESTS,
    });
    // As in Kubernetes, the usual exemptions are there from the start, so that a rate over the first one is not lost.
    for (const request of ['CREATE pod ', 'UPDATE pod ', 'CREATE controller ', 'UPDATE controller '])
      this.#exemptions.cell(request);
    this.#errors = new Tally(registry, {
      name: 'pod_security_errors_total',
      help: 'Errors that kept pods from being held against their policy, or had them held against the strictest.',
      labels: ['fatal', ...OF_REQUESTS],
    });
  }

  evaluated(
    attributes: AdmissionAttributes,
    mode: Mode,
    policy: LevelVersion,
    decision: 'allow' | 'deny',
  ): void {
    const version = `${decision} ${policy.level} ${versionLabel(policy)} ${mode}`;
    this.#evaluations.count(`${version} ${requestLabels(attributes)}`);
  }

  /** Nearly every pod of most clusters ends here, so it is counted without building a key. */
  allowedAll(attributes: AdmissionAttributes): void {
    const { operation, subresource } = attributes;
    if (subresource !== '') this.evaluated(attributes, 'enforce', PRIVILEGED, 'allow');
    else if (operation === 'CREATE') this.#created.count += 1;
    else this.#updated.count += 1;
  }

  exempted(attributes: AdmissionAttributes): void {
    this.#exemptions.count(requestLabels(attributes));
  }

  failed(attributes: AdmissionAttributes, fatal: boolean): void {
    this.#errors.count(`${fatal} ${requestLabels(attributes)}`);
  }
}

const OF_REQUESTS = ['request_operation', 'resource', 'subresource'];

function requestLabels({ operation, definition: { resource }, subresource }: AdmissionAttributes): string {
  const kind = resource === 'pods' ? 'pod' : resource === 'namespaces' ? 'namespace' : 'controller';
  return `${operation} ${kind} ${subresource}`;
}

function versionLabel({ level, version }: LevelVersion): string {
  if (level === 'privileged' || version === LATEST) return 'latest';
  return version > NEWEST ? 'future' : toText({ level, version }).slice(level.length + 1);
}

interface Cell {
  count: number;
}

/** Counts by label values, joined into one text: a counter of prom-client takes 2 µs for seven labels. */
class Tally {
  readonly #cells = new Map<string, Cell>();

  constructor(registry: Registry, family: { name: string; help: string; labels: readonly string[] }) {
    registerFamily(registry, { ...family, type: 'counter', values: () => this.#values(family.labels) });
  }

  count(values: string): void {
    this.cell(values).count += 1;
  }

  cell(values: string): Cell {
    const cell = this.#cells.get(values) ?? { count: 0 };
    this.#cells.set(values, cell);
    return cell;
  }

  *#values(names: readonly string[]): Generator<{ labels: Record<string, string>; value: number }> {
    for (const [key, { count: value }] of this.#cells) {
      const values = key.toLowerCase().split(' ');
      yield { labels: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])), value };
    }
  }
}
