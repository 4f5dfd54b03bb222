import { MUTATING_POLICIES, MUTATING_POLICY_BINDINGS } from '../../api/known-resources.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation as WrittenMutation,
} from '../../api/types/admissionregistration/v1.ts';
import type { PatchKind, PolicyCompiler } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import { type Binding, type Policy, type PolicyKind, readBinding, readPolicy } from './read-policy.ts';

/** An expression that makes a patch. */
export interface Mutation {
  readonly kind: PatchKind;
  readonly patch: Compiled;
}

/** A MutatingAdmissionPolicy, read and compiled. */
export interface MutatingPolicy extends Policy {
  readonly mutations: readonly Mutation[];
  /** Whether it runs a second time when the object changes after it. */
  readonly reinvokes: boolean;
}

function readMutation(
  { patchType, applyConfiguration, jsonPatch }: WrittenMutation,
  compiler: PolicyCompiler,
): Mutation {
  const [kind, written] =
    patchType === 'JSONPatch'
      ? (['JSON patch', jsonPatch] as const)
      : (['apply configuration', applyConfiguration] as const);
  return { kind, patch: compiler.compile(written?.expression ?? '', kind) };
}

export const MUTATING: PolicyKind<
  MutatingPolicy,
  Binding,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding
> = {
  policies: MUTATING_POLICIES,
  bindings: MUTATING_POLICY_BINDINGS,
  readPolicy: ({ metadata, spec = {} }) => {
    const { policy, compiler } = readPolicy(metadata.name ?? '', spec);
    const mutations = (spec.mutations ?? []).map((mutation) => readMutation(mutation, compiler));
    return { ...policy, mutations, reinvokes: spec.reinvocationPolicy === 'IfNeeded' };
  },
  readBinding: ({ metadata, spec = {} }) => readBinding(metadata.name ?? '', spec),
};
