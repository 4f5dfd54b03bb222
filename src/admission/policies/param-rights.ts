import type { JsonObject } from '../../api/object-meta.ts';
import { invalid } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import type { UserInfo } from '../../request/api-request.ts';
import type { Access, Right } from '../access.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import type { FindKind } from '../plugins/owner-references.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

/**
 * Expressions read parameters on behalf of whoever wrote them, so that only those may name parameters who may read them
 * (Kubernetes: registry/admissionregistration, the strategies of policies and bindings). Holds whatever plugins are on.
 */
export class ParamRights implements AdmissionPlugin {
  readonly name = 'ParamRights';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #access: Access;
  readonly #findKind: FindKind;
  readonly #policies: FollowedObjects;

  constructor(access: Access, findKind: FindKind, objects: ClusterObjects) {
    this.#access = access;
    this.#findKind = findKind;
    this.#policies = objects.follow({ group: GROUP, resource: POLICIES });
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    const { definition, subresource } = attributes;
    if (definition.group !== GROUP || subresource !== '') return undefined;
    if (definition.resource === POLICIES) return this.#checkPolicy(attributes);
    return definition.resource === BINDINGS ? this.#checkBinding(attributes) : undefined;
  }

  #checkPolicy(attributes: AdmissionAttributes): Promise<void> | undefined {
    const kind = specOf(attributes.object).paramKind;
    if (isAbsent(kind) || equal(kind, specOf(attributes.old).paramKind)) return undefined;
    const { apiVersion, kind: name } = part(specOf(attributes.object), 'paramKind');
    const named = `(kind=${text(name)}, apiVersion=${text(apiVersion)})`;
    return this.#check(attributes, 'spec.paramKind', {
      right: { verb: 'get', ...this.#resourceOf(specOf(attributes.object)), namespace: '*', name: '*' },
      why: `must have "get" permission on all objects of the referenced paramKind ${named}`,
    });
  }

  #checkBinding(attributes: AdmissionAttributes): Promise<void> | undefined {
    const { paramRef, policyName } = specOf(attributes.object);
    const old = specOf(attributes.old);
    if (isAbsent(paramRef) || (equal(paramRef, old.paramRef) && policyName === old.policyName))
      return undefined;
    const { name, namespace } = part(specOf(attributes.object), 'paramRef');
    const verb = text(name) === '' ? 'list' : 'get';
    const resource = this.#resourceOf(specOf(this.#policies.get('', text(policyName))));
    return this.#check(attributes, 'spec.paramRef', {
      right: { verb, ...resource, namespace: text(namespace), name: text(name) },
      why: `does not have "${verb}" permission on the object referenced by paramRef`,
    });
  }

  /** What cannot be told is everything. */
  #resourceOf(spec: JsonObject): Pick<Right, 'group' | 'version' | 'resource'> {
    if (isAbsent(spec.paramKind)) return { group: '*', version: '*', resource: '*' };
    const { apiVersion, kind } = part(spec, 'paramKind');
    const slash = text(apiVersion).indexOf('/');
    const group = slash < 0 ? '' : text(apiVersion).slice(0, slash);
    const version = text(apiVersion).slice(slash + 1);
    const [found] = this.#findKind(text(apiVersion), text(kind));
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

const specOf = (object: JsonObject | undefined): JsonObject => part(object, 'spec');

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** As Go prints who somebody is. */
const goUser = ({ username, uid, groups }: UserInfo): string =>
  `&{${username} ${uid} [${groups.join(' ')}] map[]}`;
