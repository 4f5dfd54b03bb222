import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';

/**
 * Objects that a dry run of several writes has made, and that exist nowhere else: the namespace and the service accounts that
 * the next of its writes need. Plugins look among them for what is not in the cluster, so that they hide nothing that is there.
 * They are those of one request, and only its dry runs are shown them (verbs/writing/admission-attributes.ts): nothing that is
 * stored was ever decided by them.
 */
export class ForeseenObjects {
  readonly #objects = new Map<string, ApiObject>();

  /** Only what some plugin looks for is kept. */
  add(resource: GroupResource, object: ApiObject): void {
    if (!SOUGHT.has(`${resource.group}/${resource.resource}`)) return;
    const { namespace = '', name = '' } = object.metadata;
    this.#objects.set(keyOf(resource, namespace, name), object);
  }

  find<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): T | undefined {
    // The objects of one resource are of one type.
    return this.#objects.get(keyOf(resource, namespace, name)) as T | undefined;
  }
}

const SOUGHT: ReadonlySet<string> = new Set([
  '/namespaces',
  '/serviceaccounts',
  'rbac.authorization.k8s.io/roles',
]);

const keyOf = ({ group, resource }: GroupResource, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;
