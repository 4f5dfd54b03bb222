import type { TypeLibrary } from '../../api/idl/types.ts';
import { MUTATING_POLICIES, MUTATING_POLICY_BINDINGS } from '../../api/known-resources.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { StatusError } from '../../api/status.ts';
import type { Bindings } from '../../cel/policies/compiler.ts';
import { toCel } from '../../cel/program.ts';
import { equal } from '../../object/equality.ts';
import { errorText } from '../../util/error-text.ts';
import { Pace } from '../../util/turns.ts';
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../admission.ts';
import { type OpenManifests, openPolicyManifests, policyManifests } from '../manifests/manifest-rules.ts';
import { evaluateConditions } from '../match-conditions.ts';
import { Namespaces, RequestMatcher } from '../match-resources.ts';
import { describePlugin, type PluginParts, refusal } from '../plugin.ts';
import { RequestBindings } from '../policies/bindings.ts';
import {
  conditionsReport,
  type Invocation,
  invocationsOf,
  namespaceOfObject,
  type PolicyParts,
} from '../policies/invocations.ts';
import { mutate, mutationErrorType } from '../policies/mutate.ts';
import { MUTATING, type MutatingPolicy } from '../policies/mutating.ts';
import { type Binding, type Hook, Hooks, type Policy } from '../policies/read-policy.ts';
import { Rights } from '../policies/rights.ts';
import {
  keepNamespace,
  keepReadableOwners,
  type MatchedForm,
  replaceContent,
  toMatchedForm,
} from '../request-form.ts';
import { type Round, Rounds } from '../rounds.ts';

interface MutatingPolicyParts extends PolicyParts {
  readonly types: TypeLibrary;
}

/**
 * Changes objects by the expressions of policies. A policy runs for each of its bindings and parameters, and its mutations one
 * after the other. After a change all plugins run once more, and those policies with reinvocationPolicy IfNeeded that ran before
 * it (Kubernetes: admission/plugin/policy/mutating).
 */
export function createMutatingAdmissionPolicy(parts: MutatingPolicyParts): AdmissionPlugin {
  const namespaces = new Namespaces(parts.objects);
  const matcher = new RequestMatcher(namespaces, parts.equivalentsOf);
  const hooks = new Hooks(parts.objects, matcher, { kind: MUTATING, manifests: parts.manifests });
  const rounds = new Rounds();
  parts.onResources(() => hooks.forget());
  return {
    name: 'MutatingAdmissionPolicy',
    // A deletion has nothing to change.
    operations: ['CREATE', 'UPDATE', 'CONNECT'],
    mutate: (attributes) => {
      const found = parts.isServing() ? hooks.for(attributes) : [];
      if (found.length === 0) return undefined;
      const round = rounds.begin(attributes);
      return new Dispatch(attributes, { ...parts, namespaces, matcher }, round).run(found);
    },
  };
}

interface DispatchParts extends MutatingPolicyParts {
  readonly namespaces: Namespaces;
  readonly matcher: RequestMatcher;
}

type MutatingInvocation = Invocation<MutatingPolicy, Binding>;

/** An error of a policy; failurePolicy decides whether it refuses the request. */
interface PolicyError {
  readonly policy: Policy;
  readonly text: string;
  readonly reason?: 'Invalid';
}

/** One round of all policies on one request. */
class Dispatch {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: DispatchParts;
  readonly #round: Round;
  readonly #rights: Rights;
  readonly #bindings: RequestBindings;
  readonly #errors: PolicyError[] = [];
  /** Each mutation of a large object takes as long as everybody else may wait. */
  readonly #pace = new Pace({ stepsBetween: 1 });

  constructor(attributes: AdmissionAttributes, parts: DispatchParts, round: Round) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#round = round;
    this.#rights = new Rights(parts.rights, attributes.user);
    this.#bindings = new RequestBindings(attributes, this.#rights);
  }

  /** All policies are matched before the first one changes anything. @throws StatusError */
  async run(hooks: readonly Hook<MutatingPolicy, Binding>[]): Promise<Reinvocation> {
    const attributes = this.#attributes;
    const managedFields = attributes.object?.metadata.managedFields;
    const invocations = await this.#invocations(hooks);
    if (invocations.length > 0) await this.#runAll(invocations);
    const refusing = this.#errors.filter(({ policy }) => policy.failsClosed);
    if (refusing.length > 0) throw denied(attributes, refusing);
    keepReadableOwners(attributes, managedFields);
    return this.#round.end(attributes.object);
  }

  async #invocations(hooks: readonly Hook<MutatingPolicy, Binding>[]): Promise<MutatingInvocation[]> {
    const found: MutatingInvocation[] = [];
    for (const hook of hooks) {
      const invocations = invocationsOf(hook, this.#attributes, this.#parts, ({ policy, binding, message }) =>
        this.#errors.push({ policy, text: denialText({ policy, binding }, message) }),
      );
      for await (const invocation of invocations) found.push(invocation);
    }
    return found;
  }

  async #runAll(invocations: readonly MutatingInvocation[]): Promise<void> {
    const namespace = await namespaceOfObject(this.#attributes, this.#parts.namespaces);
    let hasRun = false;
    for (const invocation of invocations) if (await this.#invoke(invocation, namespace)) hasRun = true;
    // A mutation that ran counts as a change, even when it changed nothing.
    if (hasRun) this.#round.changed();
  }

  /** Returns whether a mutation was applied. */
  async #invoke(invocation: MutatingInvocation, namespace: ApiObject | undefined): Promise<boolean> {
    const { policy, matched, param } = invocation;
    const form = this.#parts.formOf(this.#attributes, matched);
    const given = await this.#bindings.for(form, namespace, param);
    if (policy.conditions.length > 0) {
      const object = toCel(await toMatchedForm(this.#attributes, form, this.#attributes.object));
      if (!(await this.#conditionsHold(invocation, { ...given, object }))) return false;
    }
    const key = keyOf(invocation);
    if (!this.#round.includes(key)) return false;
    const hasRun = await this.#mutateAll(invocation, form, given);
    if (policy.reinvokes) this.#round.waits(key);
    return hasRun;
  }

  async #conditionsHold(invocation: MutatingInvocation, given: Bindings): Promise<boolean> {
    const { policy } = invocation;
    const report = conditionsReport(policy, this.#attributes, this.#parts.admissionMetrics);
    const { conditions, variables } = policy;
    const call = { given: { ...given, namespaceObject: null }, variables, rights: this.#rights, report };
    const met = await evaluateConditions(conditions, call);
    if ('matches' in met) return met.matches;
    this.#fail(invocation, met.why);
    return false;
  }

  async #mutateAll(invocation: MutatingInvocation, form: MatchedForm, given: Bindings): Promise<boolean> {
    const attributes = this.#attributes;
    const { object } = attributes;
    if (object === undefined) return false;
    const { variables, mutations } = invocation.policy;
    const { types } = this.#parts;
    let hasRun = false;
    for (const mutation of mutations) {
      const context = {
        attributes: { ...attributes, object },
        form,
        given,
        variables,
        rights: this.#rights,
        types,
        pace: this.#pace,
      };
      if (this.#pace.isOver()) await this.#pace.rest();
      const next = await this.#timed(invocation, () => mutate(mutation, context));
      if (next === undefined) continue;
      hasRun = true;
      if (equal(next, object)) continue;
      keepNamespace(attributes, next);
      replaceContent(object, next);
      this.#round.changed();
    }
    return hasRun;
  }

  /** Undefined: it failed. @throws StatusError */
  async #timed<Result>(
    invocation: MutatingInvocation,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const { admissionMetrics: metrics } = this.#parts;
    const [policy, binding] = [invocation.policy.name, invocation.binding.name];
    const begun = performance.now();
    try {
      const result = await work();
      metrics.mutated(policy, binding, { error: 'no_error', ms: performance.now() - begun });
      return result;
    } catch (error) {
      metrics.mutated(policy, binding, { error: mutationErrorType(error), ms: performance.now() - begun });
      if (error instanceof StatusError) throw error;
      this.#fail(invocation, errorText(error));
      return undefined;
    }
  }

  #fail({ policy, binding }: MutatingInvocation, message: string): void {
    this.#errors.push({ policy, text: denialText({ policy, binding }, message), reason: 'Invalid' });
  }
}

const keyOf = ({ policy, binding, param }: MutatingInvocation): string => {
  const { namespace = '', name = '' } = param?.metadata ?? {};
  return JSON.stringify([policy.name, binding.name, namespace, name]);
};

const denialText = (
  { policy, binding }: { readonly policy: Policy; readonly binding?: Binding | undefined },
  message: string,
): string =>
  binding === undefined
    ? `policy ${JSON.stringify(policy.name)} denied request: ${message}`
    : `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;

/** The first error is the message, all of them are causes. The code is 403 for every reason. */
function denied(attributes: AdmissionAttributes, errors: readonly PolicyError[]): StatusError {
  const { status } = refusal(attributes, '');
  const [first] = errors;
  return new StatusError({
    code: 403,
    reason: first?.reason ?? 'Forbidden',
    message: first?.text ?? '',
    details: { ...status.details, causes: errors.map(({ text }) => ({ message: text })) },
  });
}

interface MutatingPolicyNeeds extends Pick<PluginParts, 'isFeatureOn' | 'config'> {
  readonly policies: Omit<PolicyParts, 'manifests'>;
  readonly openManifests: OpenManifests;
  readonly types: TypeLibrary;
}

export const mutatingAdmissionPolicy = describePlugin({
  name: 'MutatingAdmissionPolicy',
  isDefault: true,
  since: 32,
  create: ({ isFeatureOn, policies, types, ...needs }: MutatingPolicyNeeds) =>
    isFeatureOn('MutatingAdmissionPolicy')
      ? createMutatingAdmissionPolicy({
          ...{ ...policies, types },
          manifests: openPolicyManifests(
            needs,
            policyManifests('MutatingAdmissionPolicy', MUTATING_POLICIES, MUTATING_POLICY_BINDINGS),
          ),
        })
      : undefined,
});
