import {
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  POLICIES,
  POLICY_BINDINGS,
} from '../../api/known-resources.ts';
import { invalid } from '../../api/status.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../api/types/admissionregistration/v1.ts';
import type { Ask, AuthorizerAnswer, Question } from '../../cel/libraries/authorizer-checks.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import type { UserInfo } from '../../request/api-request.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { type Access, isWriteOf, type Right, type WriteOf } from '../plugin.ts';
import type { FindKind } from '../plugins/owner-references.ts';

/** Answers expressions that ask about rights. */
export interface RightsOracle {
  decide(user: UserInfo, question: Question): Promise<AuthorizerAnswer>;
}

/**
 * The answers to the questions of one request's expressions. Expressions are synchronous: one that asks a new question stops, and
 * runs again when the answer is known. Each run gets at least one answer further.
 */
export class Rights {
  readonly #oracle: RightsOracle;
  readonly #user: UserInfo;
  readonly #answers = new Map<string, AuthorizerAnswer>();
  readonly #asked = new Map<string, Question>();

  constructor(oracle: RightsOracle, user: UserInfo) {
    this.#oracle = oracle;
    this.#user = user;
  }

  /** A question without an answer throws, and becomes the open one. */
  readonly ask: Ask = (question) => {
    const key = JSON.stringify(question);
    const answer = this.#answers.get(key);
    if (answer !== undefined) return answer;
    this.#asked.set(key, question);
    throw new Error('the authorizer has not answered yet');
  };

  get open(): boolean {
    return this.#asked.size > 0;
  }

  async settle(): Promise<void> {
    for (const [key, question] of this.#asked)
      this.#answers.set(key, await this.#oracle.decide(this.#askerOf(question), question));
    this.#asked.clear();
  }

  #askerOf({ serviceAccount }: Question): UserInfo {
    if (serviceAccount === undefined) return this.#user;
    const { namespace, name } = serviceAccount;
    return {
      username: `system:serviceaccount:${namespace}:${name}`,
      uid: '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
      extra: {},
    };
  }
}

type AnyPolicy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
type AnyBinding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

/**
 * Naming parameters in a policy or binding needs the right to read them, because expressions show their contents (Kubernetes:
 * registry/admissionregistration, the strategies of policies and bindings). Holds with any plugins.
 */
export class ParamRights implements AdmissionPlugin {
  readonly name = 'ParamRights';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #access: Access;
  readonly #findKind: FindKind;
  readonly #policies: FollowedObjects<AnyPolicy>;
  readonly #mutatingPolicies: FollowedObjects<AnyPolicy>;

  constructor(access: Access, findKind: FindKind, objects: ClusterObjects) {
    this.#access = access;
    this.#findKind = findKind;
    this.#policies = objects.follow(POLICIES);
    this.#mutatingPolicies = objects.follow(MUTATING_POLICIES);
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    if (isWriteOf(attributes, POLICIES) || isWriteOf(attributes, MUTATING_POLICIES))
      return this.#checkPolicy(attributes);
    if (isWriteOf(attributes, POLICY_BINDINGS)) return this.#checkBinding(attributes, this.#policies);
    if (isWriteOf(attributes, MUTATING_POLICY_BINDINGS))
      return this.#checkBinding(attributes, this.#mutatingPolicies);
    return undefined;
  }

  #checkPolicy(attributes: WriteOf<AnyPolicy>): Promise<void> | undefined {
    const { object, old } = attributes;
    const paramKind = object?.spec?.paramKind;
    if (paramKind === undefined || equal(paramKind, old?.spec?.paramKind)) return undefined;
    const { apiVersion = '', kind = '' } = paramKind;
    return this.#check(attributes, 'spec.paramKind', {
      right: { verb: 'get', ...this.#resourceOf(paramKind), namespace: '*', name: '*' },
      why: `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
    });
  }

  #checkBinding(
    attributes: WriteOf<AnyBinding>,
    policies: FollowedObjects<AnyPolicy>,
  ): Promise<void> | undefined {
    const { object, old } = attributes;
    const { paramRef, policyName = '' } = object?.spec ?? {};
    if (paramRef === undefined) return undefined;
    const isAsBefore = equal(paramRef, old?.spec?.paramRef) && policyName === (old?.spec?.policyName ?? '');
    if (isAsBefore) return undefined;
    const { name = '', namespace = '' } = paramRef;
    const verb = name === '' ? 'list' : 'get';
    const resource = this.#resourceOf(policies.get('', policyName)?.spec?.paramKind);
    return this.#check(attributes, 'spec.paramRef', {
      right: { verb, ...resource, namespace, name },
      why: `does not have "${verb}" permission on the object referenced by paramRef`,
    });
  }

  /** An unknown kind needs the right to all resources. */
  #resourceOf(paramKind: ParamKind | undefined): Pick<Right, 'group' | 'version' | 'resource'> {
    if (paramKind === undefined) return { group: '*', version: '*', resource: '*' };
    const { apiVersion = '', kind = '' } = paramKind;
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const version = apiVersion.slice(slash + 1);
    const [found] = this.#findKind(apiVersion, kind);
    return { group, version, resource: found?.resource ?? '*' };
  }

  async #check(
    { definition, name, user }: AdmissionAttributes,
    field: string,
    { right, why }: { readonly right: Right; readonly why: string },
  ): Promise<void> {
    if ((await this.#access.whyNot(user, right)) === undefined) return;
    throw invalid(definition, name, [forbiddenField(field, `user ${goUser(user)} ${why}`)]);
  }
}

/** A user as Go prints it. */
const goUser = ({ username, uid, groups }: UserInfo): string =>
  `&{${username} ${uid} [${groups.join(' ')}] map[]}`;
