import type { ApiObject } from '../../api/object-meta.ts';
import { StatusError } from '../../api/status.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { type AdmissionMetrics, reportConditions } from '../admission-metrics.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import type { StaticObjects } from '../manifests/manifest-folder.ts';
import type { ConditionsReport } from '../match-conditions.ts';
import {
  type EquivalentsOf,
  type Namespaces,
  namespaceOf,
  type RequestMatcher,
  type ResourceVersion,
} from '../match-resources.ts';
import {
  ConfigurationError,
  collectParams,
  type FindParams,
  type FormOf,
  type ParamSource,
} from './bindings.ts';
import type { Binding, Hook, Policy } from './read-policy.ts';
import type { RightsOracle } from './rights.ts';

/** The parts of the server that policies use. */
export interface PolicyParts {
  readonly objects: ClusterObjects;
  readonly findParams: FindParams;
  readonly equivalentsOf: EquivalentsOf;
  readonly formOf: FormOf;
  readonly rights: RightsOracle;
  readonly admissionMetrics: AdmissionMetrics;
  /** Policies of files. */
  readonly manifests?: StaticObjects | undefined;
  /** Calls back when the set of served resources changes. */
  readonly onResources: (changed: () => void) => void;
  /**
   * False while the server starts. Its writes then are necessary, and a policy that refuses them must not keep it from starting:
   * the policy could not be corrected.
   */
  isServing(): boolean;
}

/** A policy that is to run on a request, for one of its bindings and one parameter. */
export interface Invocation<P extends Policy, B extends Binding> {
  readonly policy: P;
  readonly binding: B;
  /** The resource as which the policy matched. */
  readonly matched: ResourceVersion;
  readonly param: ApiObject | null;
}

/** A policy or binding that is wrong. `binding` undefined: the policy. */
export interface Misconfiguration<P extends Policy> {
  readonly policy: P;
  readonly binding?: Binding;
  readonly message: string;
}

interface MatchingParts extends Pick<PolicyParts, 'findParams'> {
  readonly matcher: RequestMatcher;
}

/** The invocations of a policy for a request. A mistake in the policy or in a binding leaves it out. */
export async function* invocationsOf<P extends Policy, B extends Binding>(
  { policy, bindings }: Hook<P, B>,
  attributes: AdmissionAttributes,
  { findParams, matcher }: MatchingParts,
  onMistake: (mistake: Misconfiguration<P>) => void,
): AsyncGenerator<Invocation<P, B>> {
  const found = await orMistake(
    async () => {
      const matched = await matcher.match(policy.criteria, attributes);
      return matched && { matched, source: sourceOf(policy, findParams) };
    },
    (error) => onMistake(toMistake(error, policy)),
  );
  if (found === undefined) return;
  const { matched, source } = found;
  for (const binding of bindings) {
    const params = await orMistake(
      async () => {
        const { criteria, paramRef } = binding;
        const isBound = criteria === undefined || (await matcher.match(criteria, attributes)) !== undefined;
        return isBound ? collectParams(source, paramRef, namespaceOf(attributes)) : [];
      },
      (error) => onMistake(toMistake(error, policy, binding)),
    );
    for (const param of params ?? []) yield { policy, binding, matched, param };
  }
}

async function orMistake<Result>(
  work: () => Promise<Result>,
  onError: (error: unknown) => void,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    onError(error);
    return undefined;
  }
}

/** @throws errors that are no mistakes in a policy or binding */
export function toMistake<P extends Policy>(
  error: unknown,
  policy: P,
  binding?: Binding,
): Misconfiguration<P> {
  if (!(error instanceof ConfigurationError || error instanceof StatusError)) throw error;
  const what = binding === undefined ? 'policy' : 'binding';
  return {
    policy,
    ...(binding === undefined ? {} : { binding }),
    message: `failed to configure ${what}: ${error.message}`,
  };
}

/** @throws ConfigurationError */
function sourceOf({ paramKind }: Policy, findParams: FindParams): ParamSource | undefined {
  if (paramKind === undefined) return undefined;
  const source = findParams(paramKind);
  if (source !== undefined) return source;
  const { apiVersion, kind } = paramKind;
  const named = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${named}'`);
}

/** The namespace of the request's object; undefined: it is in none. @throws StatusError 404 */
export const namespaceOfObject = async (
  { namespace, foreseen }: AdmissionAttributes,
  namespaces: Namespaces,
): Promise<ApiObject | undefined> => (namespace === '' ? undefined : namespaces.get(namespace, foreseen));

/** Kubernetes counts the conditions of mutating policies as those of validating ones. */
export const conditionsReport = (
  { name }: Policy,
  { operation }: AdmissionAttributes,
  metrics: AdmissionMetrics,
): ConditionsReport => reportConditions(metrics, { name, operation, kind: 'policy', phase: 'validate' });
