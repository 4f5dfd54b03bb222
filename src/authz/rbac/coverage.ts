import { urlCovers } from './match.ts';
import type { PolicyRule } from './policy.ts';

/**
 * Whether rules grant at least the rights of other rules (Kubernetes: component-helpers, auth/rbac/validation). The wanted rules
 * are broken down to one verb on one resource each; one of the held rules must cover such a piece as a whole.
 */

/** The pieces of `wanted` that `held` does not cover. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((piece) => !held.some((rule) => covers(rule, piece)));
}

/** A rule as pieces of one verb and one resource (and one name), or one verb and one URL. */
export function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const pieces: PolicyRule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const piece = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) pieces.push(piece);
        for (const name of resourceNames) pieces.push({ ...piece, resourceNames: [name] });
      }
    }
  }
  for (const url of nonResourceURLs)
    for (const verb of verbs) pieces.push({ nonResourceURLs: [url], verbs: [verb] });
  return pieces;
}

function covers(owner: PolicyRule, piece: PolicyRule): boolean {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = owner;
  return (
    hasAll(owner.verbs, piece.verbs, '*') &&
    hasAll(apiGroups, piece.apiGroups ?? [], '*') &&
    (piece.resources ?? []).every((resource) => coversResource(resources, resource)) &&
    coversNames(resourceNames, piece.resourceNames ?? []) &&
    (piece.nonResourceURLs ?? []).every((path) => nonResourceURLs.some((url) => urlCovers(url, path)))
  );
}

const hasAll = (held: readonly string[], wanted: readonly string[], wildcard: string): boolean =>
  held.includes(wildcard) || wanted.every((value) => held.includes(value));

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

/** A rule for some names does not cover other names, and therefore not all names. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

/** Joins pieces on the same resource and name into one rule with all their verbs; other pieces stay. */
export function compactRules(pieces: readonly PolicyRule[]): PolicyRule[] {
  const compact: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const piece of pieces) {
    const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = piece;
    const alone = apiGroups.length === 1 && resources.length === 1 && resourceNames.length <= 1;
    if (!alone || nonResourceURLs.length > 0) {
      compact.push(piece);
      continue;
    }
    const key = JSON.stringify([apiGroups, resources, resourceNames]);
    const known = simple.get(key);
    simple.set(key, known === undefined ? piece : { ...known, verbs: [...known.verbs, ...piece.verbs] });
  }
  return [...compact, ...simple.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    part('APIGroups', rule.apiGroups),
    part('Resources', rule.resources),
    part('NonResourceURLs', rule.nonResourceURLs),
    part('ResourceNames', rule.resourceNames),
    part('Verbs', rule.verbs),
  ];
  return `{${parts.filter((text) => text !== '').join(', ')}}`;
}

const part = (name: string, values: readonly string[] = []): string =>
  values.length === 0 ? '' : `${name}:${quoteAll(values)}`;

/** A list in Go's %q: `["a" "b"]`. */
export const quoteAll = (values: readonly string[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
