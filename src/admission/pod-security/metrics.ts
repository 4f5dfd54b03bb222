import type { Registry } from 'prom-client';
import { registerFamily } from '../../observability/tallies.ts';
import { VERSION } from '../../version.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { LATEST, type LevelVersion, type Mode, PRIVILEGED, toText } from './policy.ts';

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
