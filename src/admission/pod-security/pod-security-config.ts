import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { asObject, checkFields, checkOneOf, throwProblems } from '../../object/config-fields.ts';
import { duplicate, invalidValue } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import {
  LATEST,
  LEVEL_PROBLEM,
  MODES,
  type Mode,
  type Policy,
  PRIVILEGED,
  parseLevel,
  parseVersion,
  VERSION_PROBLEM,
} from './policy.ts';

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
