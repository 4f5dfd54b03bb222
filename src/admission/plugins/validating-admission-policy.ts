import { POLICIES, POLICY_BINDINGS } from '../../api/known-resources.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type OpenManifests, openPolicyManifests, policyManifests } from '../manifests/manifest-rules.ts';
import { Namespaces, RequestMatcher } from '../match-resources.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { RequestBindings } from '../policies/bindings.ts';
import {
  conditionsReport,
  type Invocation,
  invocationsOf,
  type Misconfiguration,
  namespaceOfObject,
  type PolicyParts,
  toMistake,
} from '../policies/invocations.ts';
import { AnnotationValues, act, count, type Denial, denied, judge } from '../policies/policy-judge.ts';
import { type Hook, Hooks } from '../policies/read-policy.ts';
import { Rights } from '../policies/rights.ts';
import { VALIDATING, type ValidatingBinding, type ValidatingPolicy } from '../policies/validating.ts';

/** Judges requests by the expressions of policies and their bindings (Kubernetes: admission/plugin/policy/validating). */
export function createValidatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const namespaces = new Namespaces(parts.objects);
  const matcher = new RequestMatcher(namespaces, parts.equivalentsOf);
  const hooks = new Hooks(parts.objects, matcher, { kind: VALIDATING, manifests: parts.manifests });
  parts.onResources(() => hooks.forget());
  return {
    name: 'ValidatingAdmissionPolicy',
    operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    validate: (attributes) => {
      const found = parts.isServing() ? hooks.for(attributes) : [];
      if (found.length === 0) return undefined;
      return new Dispatch(attributes, { ...parts, namespaces, matcher }).run(found);
    },
  };
}

interface DispatchParts extends PolicyParts {
  readonly namespaces: Namespaces;
  readonly matcher: RequestMatcher;
}

type ValidatingHook = Hook<ValidatingPolicy, ValidatingBinding>;

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
    this.#bindings = new RequestBindings(attributes, this.#rights);
  }

  async run(hooks: readonly ValidatingHook[]): Promise<void> {
    for (const hook of hooks) await this.#runHook(hook);
    const [first] = this.#denials;
    if (first !== undefined) throw denied(this.#attributes, first);
  }

  async #runHook(hook: ValidatingHook): Promise<void> {
    const annotations = new AnnotationValues();
    const misconfigured = (mistake: Misconfiguration<ValidatingPolicy>): void => this.#misconfigured(mistake);
    for await (const invocation of invocationsOf(hook, this.#attributes, this.#parts, misconfigured)) {
      try {
        await this.#judge(invocation, annotations);
      } catch (error) {
        this.#misconfigured(toMistake(error, invocation.policy, invocation.binding));
      }
    }
    annotations.publish(hook.policy.name, this.#attributes);
  }

  async #judge(
    { policy, binding, matched, param }: Invocation<ValidatingPolicy, ValidatingBinding>,
    annotations: AnnotationValues,
  ): Promise<void> {
    const attributes = this.#attributes;
    const { admissionMetrics: metrics, namespaces, formOf } = this.#parts;
    const namespace = await namespaceOfObject(attributes, namespaces);
    const given = await this.#bindings.for(formOf(attributes, matched), namespace, param);
    const judgement = await judge(policy, given, this.#rights, conditionsReport(policy, attributes, metrics));
    count(metrics, policy, binding, judgement);
    for (const failure of judgement.failures)
      this.#denials.push(...act(attributes, policy, binding, failure));
    for (const { key, value } of judgement.annotations) annotations.add(key, value);
    for (const { message } of judgement.errors)
      this.#denials.push({ policy: policy.name, binding: binding.name, message, reason: '' });
  }

  /** An invalid policy or binding denies the request, if the policy fails closed. */
  #misconfigured({
    policy: { name, failsClosed },
    binding,
    message,
  }: Misconfiguration<ValidatingPolicy>): void {
    if (!failsClosed) return;
    const bound = binding === undefined ? {} : { binding: binding.name };
    this.#denials.push({ policy: name, ...bound, message, reason: '' });
  }
}

/** The parts that the plugin gets from the server. */
interface PolicyNeeds extends Pick<PluginParts, 'config'> {
  readonly policies: Omit<PolicyParts, 'manifests'>;
  readonly openManifests: OpenManifests;
}

export const validatingAdmissionPolicy = describePlugin({
  name: 'ValidatingAdmissionPolicy',
  isDefault: true,
  create: ({ policies, ...needs }: PolicyNeeds) =>
    createValidatingAdmissionPolicy({
      ...policies,
      manifests: openPolicyManifests(
        needs,
        policyManifests('ValidatingAdmissionPolicy', POLICIES, POLICY_BINDINGS),
      ),
    }),
});
