import {
  appArmorProfile,
  seccompBaseline,
  seccompRestricted,
  seLinuxOptions,
} from './checks/app-armor-and-seccomp.ts';
import {
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  procMount,
  procMountRestricted,
  restrictedVolumes,
  sysctls,
  windowsHostProcess,
} from './checks/host.ts';
import {
  allowPrivilegeEscalation,
  capabilitiesBaseline,
  capabilitiesRestricted,
  privileged,
  runAsNonRoot,
  runAsUser,
} from './checks/privileges.ts';
import { LATEST, type LevelVersion, type Version } from './namespace-levels.ts';
import type { Check, CheckedPod, FindViolation, VersionedCheck, Violation } from './pod-check.ts';

interface Found {
  readonly check: Check;
  readonly versioned: VersionedCheck;
}

/** Selects the checks of a level in a version, in the order in which violations are reported. */
export class Evaluator {
  /** By version; later versions are like the last one. */
  readonly #baseline: readonly (readonly FindViolation[])[];
  readonly #restricted: readonly (readonly FindViolation[])[];

  /** `emulated`: policies of later versions are judged as in this one. */
  constructor(checks: readonly Check[], emulated: Version = LATEST) {
    const changes = checks.flatMap(({ versions }) => versions.map(({ since }) => since));
    const newest = Math.max(0, ...changes.filter((since) => since <= emulated));
    const versions = Array.from({ length: newest + 1 }, (_, version) => version);
    this.#baseline = versions.map((version) => baselineOf(checksOf(checks, version)));
    this.#restricted = versions.map((version) => restrictedOf(checksOf(checks, version)));
  }

  violationsOf({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
    if (level === 'privileged') return [];
    const byVersion = level === 'baseline' ? this.#baseline : this.#restricted;
    const violations: Violation[] = [];
    for (const find of byVersion[Math.min(version, byVersion.length - 1)] ?? []) {
      const violation = find(pod);
      if (violation !== undefined) violations.push(violation);
    }
    return violations;
  }
}

function checksOf(checks: readonly Check[], version: Version): Found[] {
  return checks.flatMap((check) => {
    const versioned = check.versions.findLast(({ since }) => since <= version);
    return versioned === undefined ? [] : { check, versioned };
  });
}

const baselineOf = (found: readonly Found[]): FindViolation[] =>
  found.filter(({ check }) => check.level === 'baseline').map(({ versioned }) => versioned.find);

function restrictedOf(found: readonly Found[]): FindViolation[] {
  const overridden = new Set(
    found
      .filter(({ check }) => check.level === 'restricted')
      .flatMap(({ versioned }) => versioned.overrides ?? []),
  );
  return found.filter(({ check }) => !overridden.has(check.id)).map(({ versioned }) => versioned.find);
}

/** `host namespaces, hostPort` */
export const reasonsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');

/** `host namespaces (hostPID=true), hostPort (container "a" uses hostPort 80)` */
export const detailsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** In the order of reports: each level by its ids (Kubernetes: pod-security-admission, policy/). */
export const ALL_CHECKS: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompBaseline,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  procMountRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompRestricted,
];
