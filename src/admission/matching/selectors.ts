import { notFound } from '../../api/status.ts';
import type { Namespace } from '../../api/types/core/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { fromLabelSelector, type LabelRequirement, matchesLabels } from '../../object/selectors.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { NAMESPACES } from '../resources.ts';

export type Selector = readonly LabelRequirement[];

/** An absent selector selects everything, as an empty one does. */
export const readSelector = (selector: LabelSelector = {}): Selector => fromLabelSelector(selector);

const isNamespace = ({ definition }: AdmissionAttributes): boolean =>
  definition.resource === 'namespaces' && definition.group === '';

/** The namespace a request is in; a request about a namespace is in that one (Kubernetes: admission attributes of namespaces). */
export const namespaceOf = (attributes: AdmissionAttributes): string =>
  isNamespace(attributes) ? attributes.name : attributes.namespace;

/** Namespaces as selectors and expressions see them. */
export class Namespaces {
  readonly #objects: ClusterObjects;
  readonly #followed: FollowedObjects<Namespace>;

  constructor(objects: ClusterObjects) {
    this.#objects = objects;
    this.#followed = objects.follow(NAMESPACES);
  }

  /** One that was made a moment ago is asked for. @throws StatusError 404 */
  async get(name: string): Promise<Namespace> {
    const namespace = this.#followed.get('', name) ?? (await this.#objects.find(NAMESPACES, '', name));
    if (namespace === undefined) throw notFound(NAMESPACES, name);
    return namespace;
  }

  /**
   * A namespace that is being written is judged by the labels it is about to have; what is in no namespace is always selected
   * (Kubernetes: admission/plugin/webhook/predicates/namespace). @throws StatusError 404
   */
  selected(selector: Selector, attributes: AdmissionAttributes): boolean | Promise<boolean> {
    const name = namespaceOf(attributes);
    if (selector.length === 0 || (name === '' && !isNamespace(attributes))) return true;
    const { object, operation, subresource } = attributes;
    const written = operation === 'CREATE' || operation === 'UPDATE';
    if (isNamespace(attributes) && subresource === '' && written)
      return matchesLabels(selector, object?.metadata.labels ?? {});
    const known = this.#followed.get('', name);
    if (known !== undefined) return matchesLabels(selector, known.metadata.labels ?? {});
    return this.get(name).then(({ metadata }) => matchesLabels(selector, metadata.labels ?? {}));
  }
}

/** Either state of the object will do (Kubernetes: admission/plugin/webhook/predicates/object). */
export const objectSelected = (selector: Selector, { object, old }: AdmissionAttributes): boolean =>
  selector.length === 0 ||
  [object, old].some((one) => one !== undefined && matchesLabels(selector, one.metadata.labels ?? {}));
