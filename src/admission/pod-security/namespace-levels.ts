import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  duplicate,
  invalidValue,
  throwProblems,
} from '../../object/field-errors.ts';
import { checkName } from '../../object/text-formats.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** From the most to the least permissive. */
const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
type Level = (typeof LEVELS)[number];

/** The minor version whose checks count: `v1.22` is 22. {@link LATEST} is newer than every other. */
export type Version = number;
export const LATEST: Version = Number.POSITIVE_INFINITY;

export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}

/** The reaction to a violation: the pod is refused, the violation is recorded, or the sender is warned. */
const MODES = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof MODES)[number];
export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const PRIVILEGED: LevelVersion = { level: 'privileged', version: LATEST };

/** Prefix of the labels and of the audit annotations. */
export const PREFIX = 'pod-security.kubernetes.io/';

const LEVEL_PROBLEM = `must be one of ${LEVELS.join(', ')}`;
const VERSION_PROBLEM = 'must be "latest" or "v1.x"';

const parseLevel = (text: string): Level | undefined => LEVELS.find((level) => level === text);

export function parseVersion(text: string): Version | undefined {
  if (text === 'latest') return LATEST;
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(text)?.[1];
  return minor === undefined || !Number.isSafeInteger(Number(minor)) ? undefined : Number(minor);
}

/** `restricted:v1.22` */
export const toText = ({ level, version }: LevelVersion): string =>
  `${level}:${version === LATEST ? 'latest' : `v1.${version}`}`;

const equals = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.version === b.version;

/** Positive where `a` allows less than `b`. */
const compareLevels = (a: Level, b: Level): number => LEVELS.indexOf(a) - LEVELS.indexOf(b);

export const isPrivileged = ({ enforce, audit, warn }: Policy): boolean =>
  enforce.level === 'privileged' && audit.level === 'privileged' && warn.level === 'privileged';

/** Whether two policies are the same in effect: the version of `privileged` does not matter. */
const areEquivalent = (a: Policy, b: Policy): boolean =>
  MODES.every(
    (mode) => (a[mode].level === 'privileged' && b[mode].level === 'privileged') || equals(a[mode], b[mode]),
  );

export interface Labelled {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

type Labels = Readonly<Record<string, string>>;

const LABELS = {
  enforce: `${PREFIX}enforce`,
  enforceVersion: `${PREFIX}enforce-version`,
  audit: `${PREFIX}audit`,
  auditVersion: `${PREFIX}audit-version`,
  warn: `${PREFIX}warn`,
  warnVersion: `${PREFIX}warn-version`,
} as const;

const isLabelled = (labels: Labels, mode: Mode): boolean =>
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

export interface NamespaceRules {
  readonly defaults: Policy;
  readonly exemptNamespaces: ReadonlySet<string>;
  /** Warnings about existing pods under a stricter policy. */
  warningsOf(namespace: string, enforce: LevelVersion): Promise<string[]>;
}

/** Checks a created or changed namespace. @throws StatusError 422 for invalid labels that were not there before */
export function reviewNamespace(
  attributes: AdmissionAttributes,
  namespace: ApiObject,
  rules: NamespaceRules,
): Promise<void> | undefined {
  const { definition, old, name } = attributes;
  const { defaults } = rules;
  const { labels } = namespace.metadata;
  const { policy, errors } = policyOf(labels, defaults);
  const before = old === undefined ? undefined : policyOf(old.metadata.labels, defaults);
  if (errors.length > 0 && !isSame(errors, before?.errors ?? [])) throw invalid(definition, name, errors);
  if (before !== undefined && !isStricter(policy.enforce, before.policy.enforce)) return undefined;
  if (rules.exemptNamespaces.has(name)) {
    const warning = exemptionWarning(name, policy, labels, defaults);
    if (warning !== undefined) attributes.warn(warning);
    return undefined;
  }
  return before === undefined ? undefined : warn(attributes, policy.enforce, rules);
}

const isSame = (errors: readonly FieldError[], others: readonly FieldError[]): boolean =>
  errors.length === others.length &&
  errors.every(({ field, message }, at) => field === others[at]?.field && message === others[at]?.message);

/** Whether the new policy may forbid pods that the old one allowed. A change of version counts, because it may. */
function isStricter(now: LevelVersion, before: LevelVersion): boolean {
  if (equals(now, before) || now.level === 'privileged') return false;
  return now.version !== before.version || compareLevels(now.level, before.level) > 0;
}

async function warn(
  attributes: AdmissionAttributes,
  enforce: LevelVersion,
  { warningsOf }: NamespaceRules,
): Promise<void> {
  for (const text of await warningsOf(attributes.name, enforce)) attributes.warn(text);
}

/** The warning about new labels on an exempt namespace. Undefined: the labels ask for nothing new. */
function exemptionWarning(
  namespace: string,
  policy: Policy,
  labels: Labels | undefined,
  defaults: Policy,
): string | undefined {
  if (isPrivileged(policy) || areEquivalent(policy, defaults)) return undefined;
  const asked = MODES.filter(
    (mode) => policy[mode].level !== 'privileged' && isLabelled(labels ?? {}, mode),
  ).map((mode) => `${mode}=${toText(policy[mode])}`);
  return `namespace "${namespace}" is exempt from Pod Security, and the policy (${asked.join(', ')}) will be ignored`;
}

/** Users, namespaces and runtime classes that the plugin does not check. */
export interface Exemptions {
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

export interface PodSecurityConfig {
  /** For namespaces without labels. */
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) =>
  ['v1', 'v1beta1', 'v1alpha1'].map((version) => `pod-security.admission.config.${domain}/${version}`),
);

/**
 *   apiVersion: pod-security.admission.config.k8s.io/v1
 *   kind: PodSecurityConfiguration
 *   defaults: {enforce: baseline, enforce-version: latest, audit: restricted, warn: restricted}
 *   exemptions: {usernames: [jane], namespaces: [kube-system], runtimeClasses: [sandbox]}
 *
 * Without a configuration, everything is allowed where no label says otherwise.
 * @throws Error with all problems
 */
export function readPodSecurityConfig(config: JsonValue | undefined): PodSecurityConfig {
  const problems: FieldError[] = [];
  const file = asObject(config);
  if (config !== undefined && config !== null) {
    checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
    checkOneOf(file.kind, ['PodSecurityConfiguration'], 'kind', problems);
    checkFields(file, ['apiVersion', 'kind', 'defaults', 'exemptions'], '', problems);
  }
  const defaults = readDefaults(asObject(file.defaults), problems);
  const exemptions = readExemptions(asObject(file.exemptions), problems);
  throwProblems('PodSecurity configuration', problems);
  return { defaults, exemptions };
}

function readDefaults(defaults: JsonObject, problems: FieldError[]): Policy {
  checkFields(defaults, [...MODES, ...MODES.map((mode) => `${mode}-version`)], 'defaults', problems);
  const read = (mode: Mode): Policy[Mode] => {
    const level = textOr(defaults[mode], PRIVILEGED.level);
    const version = textOr(defaults[`${mode}-version`], 'latest');
    const known = { level: parseLevel(level), version: parseVersion(version) };
    if (known.level === undefined) problems.push(invalidValue(`defaults.${mode}`, level, LEVEL_PROBLEM));
    if (known.version === undefined)
      problems.push(invalidValue(`defaults.${mode}-version`, version, VERSION_PROBLEM));
    return { level: known.level ?? PRIVILEGED.level, version: known.version ?? LATEST };
  };
  return { enforce: read('enforce'), audit: read('audit'), warn: read('warn') };
}

/** An empty value counts as absent; a value that is no text becomes an invalid one. */
const textOr = (value: JsonValue | undefined, fallback: string): string =>
  value === undefined || value === null || value === '' ? fallback : String(value);

function readExemptions(exemptions: JsonObject, problems: FieldError[]): Exemptions {
  checkFields(exemptions, ['usernames', 'namespaces', 'runtimeClasses'], 'exemptions', problems);
  const read = (field: keyof Exemptions, check: (name: string) => readonly string[]): Set<string> => {
    const names = new Set<string>();
    const list = exemptions[field];
    for (const [at, item] of (Array.isArray(list) ? list : []).entries()) {
      const name = textOr(item, '');
      const path = `exemptions.${field}[${at}]`;
      const wrong = check(name);
      if (wrong.length > 0) problems.push(invalidValue(path, name, wrong.join(', ')));
      else if (names.has(name)) problems.push(duplicate(path, name));
      else names.add(name);
    }
    return names;
  };
  return {
    namespaces: read('namespaces', (name) => checkName(name, 'dns-label')),
    runtimeClasses: read('runtimeClasses', (name) => checkName(name, 'dns-subdomain')),
    usernames: read('usernames', (name) => (name === '' ? ['username must not be empty'] : [])),
  };
}
