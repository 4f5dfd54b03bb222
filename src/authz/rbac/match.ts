import type { AuthorizationAttributes } from '../authorizer.ts';
import type { PolicyRule } from './policy.ts';

/** The question of a decision, prepared once for all rules. */
export type Question =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      /** `pods`, or with a subresource `pods/log`. */
      readonly resource: string;
      /** The name in rules for the subresource of all resources: `* /log` without the space; '' without a subresource. */
      readonly anySubresource: string;
      readonly name: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

export function toQuestion({ verb, target, path }: AuthorizationAttributes): Question {
  if (target === undefined) return { kind: 'path', verb, path };
  const { group, resource, subresource, name } = target;
  return {
    kind: 'resource',
    verb,
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    anySubresource: subresource === '' ? '' : `*/${subresource}`,
    name,
  };
}

export const rulesAllow = (rules: readonly PolicyRule[], question: Question): boolean =>
  rules.some((rule) => ruleAllows(rule, question));

/** Kubernetes: RuleAllows. An empty list allows nothing, but an empty list of resourceNames allows every name. */
export function ruleAllows(rule: PolicyRule, question: Question): boolean {
  if (!hasOrAll(rule.verbs, question.verb)) return false;
  if (question.kind === 'path') return urlsAllow(rule.nonResourceURLs, question.path);
  return (
    hasOrAll(rule.apiGroups, question.group) &&
    resourcesAllow(rule.resources, question.resource, question.anySubresource) &&
    namesAllow(rule.resourceNames, question.name)
  );
}

const hasOrAll = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes(value) || values.includes('*'));

function resourcesAllow(
  resources: readonly string[] | undefined,
  resource: string,
  anySubresource: string,
): boolean {
  if (hasOrAll(resources, resource)) return true;
  return anySubresource !== '' && resources !== undefined && resources.includes(anySubresource);
}

const namesAllow = (names: readonly string[] | undefined, name: string): boolean =>
  names === undefined || names.length === 0 || names.includes(name);

const urlsAllow = (urls: readonly string[] | undefined, path: string): boolean =>
  urls?.some((url) => urlCovers(url, path)) ?? false;

/** `/healthz/*` covers every path that begins with `/healthz/`; several stars at the end count as one. */
export function urlCovers(url: string, path: string): boolean {
  if (url === path) return true;
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''));
}
