import { StatusError } from '../../api/status.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import type { ConditionsReport } from '../match-conditions.ts';
import {
  type EquivalentsOf,
  Namespaces,
  namespaceOf,
  RequestMatcher,
  type ResourceVersion,
} from '../match-resources.ts';
import { type AdmissionMetrics, reportConditions } from '../metrics.ts';
import { describePlugin } from '../plugin.ts';
import {
  ConfigurationError,
  type ConvertTo,
  collectParams,
  type FindParams,
  type ParamSource,
  RequestBindings,
} from '../policies/bindings.ts';
import { AnnotationValues, act, count, type Denial, denied, judge } from '../policies/judge.ts';
import { type Binding, type Hook, Hooks, type Policy } from '../policies/policy.ts';
import { Rights, type RightsOracle } from '../policies/rights.ts';

export interface PolicyParts {
  readonly objects: ClusterObjects;
  readonly findParams: FindParams;
  readonly equivalentsOf: EquivalentsOf;
  readonly convert: ConvertTo;
  readonly rights: RightsOracle;
  readonly admissionMetrics: AdmissionMetrics;
  /** Calls back when the set of served resources changes. */
  readonly onResources: (changed: () => void) => void;
}

/** Judges requests by the expressions of policies and their bindings (Kubernetes: admission/plugin/policy/validating). */
export function createValidatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const namespaces = new Namespaces(parts.objects);
  const matcher = new RequestMatcher(namespaces, parts.equivalentsOf);
  const hooks = new Hooks(parts.objects, matcher);
  parts.onResources(() => hooks.forget());
  return {
    name: 'ValidatingAdmissionPolicy',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      const found = hooks.for(attributes);
      if (found.length === 0 || attributes.definition.exemptFrom?.includes('policies') === true)
        return undefined;
      return new Dispatch(attributes, { ...parts, namespaces, matcher }).run(found);
    },
  };
}

interface DispatchParts extends PolicyParts {
  readonly namespaces: Namespaces;
  readonly matcher: RequestMatcher;
}

/** A policy that matches a request. */
interface Match {
  readonly policy: Policy;
  readonly matched: ResourceVersion;
  readonly source: ParamSource | undefined;
  readonly annotations: AnnotationValues;
}

/** Judges one request by all policies. The first denial is the answer. */
class Dispatch {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: DispatchParts;
  readonly #rights: Rights;
  readonly #bindings: RequestBindings;
  readonly #denials: Denial[] = [];

  constructor(attributes: AdmissionAttributes, parts: DispatchParts) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#rights = new Rights(parts.rights, attributes.user);
    this.#bindings = new RequestBindings(attributes, parts.convert, this.#rights);
  }

  async run(hooks: readonly Hook[]): Promise<void> {
    for (const hook of hooks) await this.#runHook(hook);
    const [first] = this.#denials;
    if (first !== undefined) throw denied(this.#attributes, first);
  }

  async #runHook({ policy, bindings }: Hook): Promise<void> {
    const annotations = new AnnotationValues();
    try {
      const matched = await this.#parts.matcher.match(policy.criteria, this.#attributes);
      if (matched === undefined) return;
      const source = this.#sourceOf(policy);
      for (const binding of bindings)
        await this.#runBinding({ policy, matched, source, annotations }, binding);
    } catch (error) {
      this.#misconfigured(error, policy);
    }
    annotations.publish(policy.name, this.#attributes);
  }

  async #runBinding({ policy, matched, source, annotations }: Match, binding: Binding): Promise<void> {
    const attributes = this.#attributes;
    try {
      if (binding.criteria !== undefined) {
        const bound = await this.#parts.matcher.match(binding.criteria, attributes);
        if (bound === undefined) return;
      }
      const params = await collectParams(source, binding.paramRef, namespaceOf(attributes));
      const namespace =
        attributes.namespace === ''
          ? undefined
          : await this.#parts.namespaces.get(attributes.namespace, attributes.foreseen);
      for (const param of params) {
        const given = await this.#bindings.for(matched, namespace, param);
        const judgement = await judge(policy, given, this.#rights, this.#reportOf(policy));
        count(this.#parts.admissionMetrics, policy, binding, judgement);
        for (const failure of judgement.failures)
          this.#denials.push(...act(attributes, policy, binding, failure));
        for (const { key, value } of judgement.annotations) annotations.add(key, value);
        for (const { message } of judgement.errors)
          this.#denials.push({ policy: policy.name, binding: binding.name, message, reason: '' });
      }
    } catch (error) {
      this.#misconfigured(error, policy, binding);
    }
  }

  #reportOf({ name }: Policy): ConditionsReport {
    const { operation } = this.#attributes;
    return reportConditions(this.#parts.admissionMetrics, {
      ...{ name, operation },
      kind: 'policy',
      phase: 'validate',
    });
  }

  /** @throws ConfigurationError */
  #sourceOf({ paramKind }: Policy): ParamSource | undefined {
    if (paramKind === undefined) return undefined;
    const source = this.#parts.findParams(paramKind);
    if (source !== undefined) return source;
    const { apiVersion, kind } = paramKind;
    const named = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${named}'`);
  }

  /** An invalid policy or binding denies the request, if the policy fails closed. @throws other errors */
  #misconfigured(error: unknown, { name, failsClosed }: Policy, binding?: Binding): void {
    if (!(error instanceof ConfigurationError || error instanceof StatusError)) throw error;
    if (!failsClosed) return;
    const what = binding === undefined ? 'policy' : 'binding';
    this.#denials.push({
      policy: name,
      ...(binding === undefined ? {} : { binding: binding.name }),
      message: `failed to configure ${what}: ${error.message}`,
      reason: '',
    });
  }
}

export const validatingAdmissionPolicy = describePlugin({
  name: 'ValidatingAdmissionPolicy',
  isDefault: true,
  create: ({ policies }: { readonly policies: PolicyParts }) => createValidatingAdmissionPolicy(policies),
});
