import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../api/types/admissionregistration/v1.ts';
import type { CertificateSigningRequest } from '../api/types/certificates/v1.ts';
import type {
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  Service,
  ServiceAccount,
} from '../api/types/core/v1.ts';
import type { StorageClass } from '../api/types/storage/v1.ts';
import type { ClusterObjects, FollowedObjects } from './cluster-objects.ts';
import type { ForeseenObjects } from './foreseen.ts';

/** Resources that several plugins use, with the types of their objects. */

export const CLAIMS: ResourceOf<PersistentVolumeClaim> = { group: '', resource: 'persistentvolumeclaims' };
export const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
export const NODES: ResourceOf<Node> = { group: '', resource: 'nodes' };
export const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' };
export const SERVICES: ResourceOf<Service> = { group: '', resource: 'services' };
export const SERVICE_ACCOUNTS: ResourceOf<ServiceAccount> = { group: '', resource: 'serviceaccounts' };
export const SIGNING_REQUESTS: ResourceOf<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
};
export const STORAGE_CLASSES: ResourceOf<StorageClass> = {
  group: 'storage.k8s.io',
  resource: 'storageclasses',
};

export const POLICIES: ResourceOf<ValidatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
};
export const POLICY_BINDINGS: ResourceOf<ValidatingAdmissionPolicyBinding> = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
};

export const MUTATING_POLICIES: ResourceOf<MutatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
};
export const MUTATING_POLICY_BINDINGS: ResourceOf<MutatingAdmissionPolicyBinding> = {
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicybindings',
};

/** Finds objects by name in the cache, and asks the store only for those that the cache lacks. */
export class ObjectLookup<T extends ApiObject> {
  readonly #objects: ClusterObjects;
  readonly #resource: ResourceOf<T>;
  readonly #followed: FollowedObjects<T>;

  constructor(objects: ClusterObjects, resource: ResourceOf<T>) {
    this.#objects = objects;
    this.#resource = resource;
    this.#followed = objects.follow(resource);
  }

  /** No promise when the object is in the cache, as it nearly always is. `use` gets undefined when there is no object. */
  with(
    namespace: string,
    name: string,
    use: (object: T | undefined) => void,
    foreseen?: ForeseenObjects,
  ): Promise<void> | undefined {
    const object = this.#followed.get(namespace, name);
    if (object === undefined)
      return this.#objects
        .find(this.#resource, namespace, name)
        .then((found) => use(found ?? foreseen?.find(this.#resource, namespace, name)));
    use(object);
    return undefined;
  }
}
