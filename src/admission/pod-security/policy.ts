import type { FieldError } from '../../api/status.ts';
import { invalidValue } from '../../object/field-errors.ts';

/** From the most to the least permissive. */
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** The minor version whose checks count: `v1.22` is 22. {@link LATEST} is newer than every other. */
export type Version = number;
export const LATEST: Version = Number.POSITIVE_INFINITY;

export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}

/** The reaction to a violation: the pod is refused, the violation is recorded, or the sender is warned. */
export const MODES = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof MODES)[number];
export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const PRIVILEGED: LevelVersion = { level: 'privileged', version: LATEST };

/** Prefix of the labels and of the audit annotations. */
export const PREFIX = 'pod-security.kubernetes.io/';

export const LEVEL_PROBLEM = `must be one of ${LEVELS.join(', ')}`;
export const VERSION_PROBLEM = 'must be "latest" or "v1.x"';

export const parseLevel = (text: string): Level | undefined => LEVELS.find((level) => level === text);

export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return LATEST;
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(text)?.[1];
  return minor === undefined || !Number.isSafeInteger(Number(minor)) ? undefined : Number(minor);
}

/** `restricted:v1.22` */
export const toText = ({ level, version }: LevelVersion): string =>
  `${level}:${version === LATEST ? 'latest' : `v1.${version}`}`;

export const equals = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;

/** Positive where `a` allows less than `b`. */
export const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b);

export const isPrivileged = ({ enforce, audit, warn }: Policy): boolean =>
  enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged';

/** Whether two policies are the same in effect: the version of `privileged` does not matter. */
export const areEquivalent = (a: Policy, b: Policy): boolean =>
  MODES.every(
    (mode) => (a[mode].level === 'privileged' && b[mode].level === 'privileged') || equals(a[mode], b[mode]),
  );

export interface Labelled {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

export type Labels = Readonly<Record<string, string>>;

const LABELS = {
  enforce: `${PREFIX}enforce`,
  enforceVersion: `${PREFIX}enforce-version`,
  audit: `${PREFIX}audit`,
  auditVersion: `${PREFIX}audit-version`,
  warn: `${PREFIX}warn`,
  warnVersion: `${PREFIX}warn-version`,
} as const;

export const isLabelled = (labels: Labels, mode: Mode): boolean =>
  labels[LABELS[mode]] !== undefined || labels[LABELS[`${mode}Version`]] !== undefined;

/**
 * The policy of a namespace: its labels, else the defaults. An invalid label means the strictest level for `enforce`, and no check
 * for `audit` and `warn` (Kubernetes: pod-security-admission, api/helpers.go).
 */
export function policyOf(labels: Labels | undefined, defaults: Policy): Labelled {
  if (labels === undefined || !MODES.some((mode) => isLabelled(labels, mode)))
    return { policy: defaults, errors: [] };
  const errors: FieldError[] = [];
  const enforce = readMode(labels, 'enforce', defaults, errors);
  const audit = readMode(labels, 'audit', defaults, errors);
  const warn = readMode(labels, 'warn', defaults, errors);
  const warns = warnsAsEnforced(labels, enforce, warn);
  return { policy: { enforce, audit, warn: warns ?? warn }, errors };
}

function readMode(labels: Labels, mode: Mode, defaults: Policy, errors: FieldError[]): LevelVersion {
  let { level, version } = defaults[mode];
  const levelText = labels[LABELS[mode]];
  if (levelText !== undefined) {
    const read = parseLevel(levelText);
    if (read === undefined) errors.push(invalidLabel(LABELS[mode], levelText, LEVEL_PROBLEM));
    level = read ?? (mode === 'enforce' ? 'restricted' : 'privileged');
  }
  const versionText = labels[LABELS[`${mode}Version`]];
  if (versionText !== undefined) {
    const read = parseVersion(versionText);
    if (read === undefined) errors.push(invalidLabel(LABELS[`${mode}Version`], versionText, VERSION_PROBLEM));
    version = read ?? LATEST;
  }
  return { level, version };
}

const invalidLabel = (label: string, value: string, why: string): FieldError =>
  invalidValue(`metadata.labels[${label}]`, value, why);

/** A namespace that labels `enforce` and not `warn` gets warnings of the enforced level. Undefined: `warn` stays as it is. */
function warnsAsEnforced(
  labels: Labels,
  enforce: LevelVersion,
  warn: LevelVersion,
): LevelVersion | undefined {
  const said = labels[LABELS.enforce];
  if (labels[LABELS.warn] !== undefined || said === undefined || parseLevel(said) === undefined)
    return undefined;
  if (compareLevels(enforce.level, warn.level) <= 0) return undefined;
  return labels[LABELS.warnVersion] === undefined ? enforce : { level: enforce.level, version: warn.version };
}
