import type { GroupResource } from '../../api/names.ts';
import type { UserInfo } from '../../request/api-request.ts';
import type { Followed } from '../../storage/follower.ts';
import {
  type AuthorizationAttributes,
  type Authorizer,
  joinErrors,
  NO_OPINION,
  type Rules,
  type Verdict,
} from '../authorizer.ts';
import { BindingIndex, type GrantList, keyOf, missingRole } from './binding-index.ts';
import { RoleIndex } from './role-index.ts';
import { type PolicyRule, RBAC_GROUP, type RoleRef, toQuestion } from './role-rules.ts';

/** The rules that a user holds. They are valid even if some roles were not found. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/**
 * Mode RBAC. Decides from indexes alone, which a Follower keeps current (see {@link sources}); nothing is allowed until they are
 * filled.
 *
 * Measured with 2,000 roles of 5 rules and 5,000 bindings to 500 users, 200 groups and service accounts, a user in 3 groups,
 * on one core of a small virtual machine with Node 24: 2 µs for a refusal, which visits all rules of the user; 1 to 3 µs when one
 * of the groups has 100 or 1,000 of the bindings.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #roles = new RoleIndex();
  readonly #bindings = new BindingIndex('RoleBinding');
  readonly #clusterBindings = new BindingIndex('ClusterRoleBinding');

  /** The resources to follow. */
  readonly sources: readonly { readonly resource: GroupResource; readonly index: Followed }[] = [
    { resource: { group: RBAC_GROUP, resource: 'roles' }, index: this.#roles.roles },
    { resource: { group: RBAC_GROUP, resource: 'clusterroles' }, index: this.#roles.clusterRoles },
    { resource: { group: RBAC_GROUP, resource: 'rolebindings' }, index: this.#bindings },
    { resource: { group: RBAC_GROUP, resource: 'clusterrolebindings' }, index: this.#clusterBindings },
  ];

  authorize(attributes: AuthorizationAttributes): Verdict {
    const question = toQuestion(attributes);
    const lists = this.#listsOf(attributes.user, attributes.target?.namespace ?? '');
    for (const list of lists) {
      const grant = list.find(question, this.#roles);
      if (grant !== undefined) return { decision: 'allow', reason: `RBAC: allowed by ${grant.source}` };
    }
    const error = joinErrors(this.#missing(lists));
    return error === undefined ? NO_OPINION : { decision: 'no-opinion', reason: `RBAC: ${error}` };
  }

  /** All rules that bindings grant the user in a namespace; '' asks for those of ClusterRoleBindings alone. */
  rulesFor(user: UserInfo, namespace: string): HeldRules {
    const lists = this.#listsOf(user, namespace);
    const rules: PolicyRule[] = [];
    for (const list of lists) {
      for (const { roleKey } of list) rules.push(...(this.#roles.get(roleKey)?.rules ?? []));
    }
    return { rules, errors: this.#missing(lists) };
  }

  /** Undefined: there is no such role. */
  rulesOf(roleRef: RoleRef, bindingNamespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(keyOf(roleRef, bindingNamespace))?.rules;
  }

  rules(user: UserInfo, namespace = ''): Rules {
    const { rules, errors } = this.rulesFor(user, namespace);
    const error = joinErrors(errors);
    return {
      resourceRules: rules.filter(hasResources).map(toResourceRule),
      nonResourceRules: rules.filter(hasUrls).map(toNonResourceRule),
      incomplete: false,
      ...(error === undefined ? {} : { error }),
    };
  }

  #listsOf(user: UserInfo, namespace: string): GrantList[] {
    const lists = this.#clusterBindings.listsOf(user, '');
    return namespace === '' ? lists : [...lists, ...this.#bindings.listsOf(user, namespace)];
  }

  #missing(lists: readonly GrantList[]): string[] {
    return lists.flatMap((list) => list.missing(this.#roles)).map(missingRole);
  }
}

const hasResources = ({ resources = [] }: PolicyRule): boolean => resources.length > 0;
const hasUrls = ({ nonResourceURLs = [] }: PolicyRule): boolean => nonResourceURLs.length > 0;

const toResourceRule = ({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule) => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});

const toNonResourceRule = ({ verbs, nonResourceURLs = [] }: PolicyRule) => ({ verbs, nonResourceURLs });
