import { internalError, notFound, StatusError } from '../../api/status.ts';
import { matchesLabels } from '../../object/label-selector.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import type { Webhook } from './webhook.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
type Labels = Readonly<Record<string, string>>;

/** The namespace as rules and reviews see it: an object that is a namespace is in itself. */
export const namespaceOf = ({ definition, namespace, name }: AdmissionAttributes): string =>
  isNamespace({ definition }) ? name : namespace;

const isNamespace = ({ definition }: Pick<AdmissionAttributes, 'definition'>): boolean =>
  definition.group === '' && definition.resource === 'namespaces';

/** Which namespaces and objects a webhook is for (Kubernetes: admission/plugin/webhook/predicates). */
export class Selectors {
  readonly #objects: ClusterObjects;
  readonly #namespaces: FollowedObjects;

  constructor(objects: ClusterObjects) {
    this.#objects = objects;
    this.#namespaces = objects.follow(NAMESPACES);
  }

  /** @throws StatusError 404 for a namespace that does not exist */
  async select(
    { namespaceSelector, objectSelector }: Webhook,
    attributes: AdmissionAttributes,
  ): Promise<boolean> {
    const { object, old } = attributes;
    if (objectSelector.length > 0) {
      const labelled = [object, old].some(
        (one) => one !== undefined && matchesLabels(objectSelector, one.metadata.labels ?? {}),
      );
      if (!labelled) return false;
    }
    if (namespaceSelector.length === 0) return true;
    // Objects outside of namespaces are never excluded by them.
    if (namespaceOf(attributes) === '' && !isNamespace(attributes)) return true;
    return matchesLabels(namespaceSelector, await this.#namespaceLabels(attributes));
  }

  /** A namespace that is being written counts as it will be. */
  async #namespaceLabels(attributes: AdmissionAttributes): Promise<Labels> {
    const { object, subresource, operation } = attributes;
    if (isNamespace(attributes) && subresource === '' && operation !== 'DELETE')
      return object?.metadata.labels ?? {};
    const name = namespaceOf(attributes);
    const namespace = this.#namespaces.get('', name) ?? (await this.#find(name));
    return namespace.metadata.labels ?? {};
  }

  async #find(name: string) {
    try {
      const found = await this.#objects.find(NAMESPACES, '', name);
      if (found === undefined) throw notFound(NAMESPACES, name);
      return found;
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw internalError(error instanceof Error ? error.message : String(error), error);
    }
  }
}
