import type { ApiObject } from '../../api/object-meta.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import type { ParamKind, ParamRef } from './policy.ts';

/** The objects of one kind, in the requested version. */
export interface ParamSource {
  readonly namespaced: boolean;
  get(namespace: string, name: string): Promise<ApiObject | undefined>;
  list(namespace: string): Promise<readonly ApiObject[]>;
}

/** Undefined: there is no such kind. */
export type FindParams = (kind: ParamKind) => ParamSource | undefined;

/** An error in a policy or binding, not in the request; failurePolicy decides. */
export class ConfigurationError extends Error {}

/**
 * The parameters that a binding refers to. A policy runs once with each of them, and without any if the binding names none
 * (Kubernetes: admission/plugin/policy/generic, CollectParams).
 * @throws ConfigurationError
 */
export async function collectParams(
  source: ParamSource | undefined,
  ref: ParamRef | undefined,
  requestNamespace: string,
): Promise<readonly (ApiObject | null)[]> {
  if (source === undefined || ref === undefined) return [null];
  const found = await select(source, ref, paramNamespace(source, ref, requestNamespace));
  if (found.length === 0 && ref.denyIfAbsent)
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  return found;
}

function paramNamespace({ namespaced }: ParamSource, ref: ParamRef, requestNamespace: string): string {
  if (!namespaced) {
    if (ref.namespace === '') return '';
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const namespace = ref.namespace === '' ? requestNamespace : ref.namespace;
  if (namespace !== '') return namespace;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

async function select(source: ParamSource, ref: ParamRef, namespace: string): Promise<readonly ApiObject[]> {
  if (ref.name !== '') {
    const param = await source.get(namespace, ref.name);
    return param === undefined ? [] : [param];
  }
  if (ref.selector === undefined) throw new ConfigurationError('one of name or selector must be provided');
  const requirements = fromLabelSelector(ref.selector);
  const all = await source.list(namespace);
  return all.filter(({ metadata }) => matchesLabels(requirements, metadata.labels ?? {}));
}
