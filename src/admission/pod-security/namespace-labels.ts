import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import type { AdmissionAttributes } from '../admission.ts';
import {
  areEquivalent,
  compareLevels,
  equals,
  isLabelled,
  isPrivileged,
  type Labels,
  type LevelVersion,
  MODES,
  type Policy,
  policyOf,
  toText,
} from './policy.ts';

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
