import type { AuthorizationAttributes, Authorizer, Rules, Verdict } from './authorizer.ts';
import { joinErrors } from './errors-text.ts';

/**
 * Asks one authorizer after the other. The first allow or deny decides; without one the reasons and errors of all are joined.
 * Rules are the union of all rules (Kubernetes: authorization/union).
 */
export function createChain(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => ask(authorizers, attributes),
    rules: (user, namespace) => union(authorizers.map((authorizer) => authorizer.rules(user, namespace))),
  };
}

async function ask(
  authorizers: readonly Authorizer[],
  attributes: AuthorizationAttributes,
): Promise<Verdict> {
  const reasons: string[] = [];
  const errors: string[] = [];
  for (const authorizer of authorizers) {
    const answer = authorizer.authorize(attributes);
    const verdict = answer instanceof Promise ? await answer : answer;
    if (verdict.decision !== 'no-opinion') return verdict;
    if (verdict.reason !== '') reasons.push(verdict.reason);
    if (verdict.error !== undefined) errors.push(verdict.error);
  }
  const error = joinErrors(errors);
  return {
    decision: 'no-opinion',
    reason: reasons.join('\n'),
    ...(error === undefined ? {} : { error }),
  };
}

function union(all: readonly Rules[]): Rules {
  const error = joinErrors(all.flatMap((rules) => (rules.error === undefined ? [] : [rules.error])));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete === true),
    ...(error === undefined ? {} : { error }),
  };
}
