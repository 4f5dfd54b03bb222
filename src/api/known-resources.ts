import type { ResourceOf } from './names.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './types/admissionregistration/v1.ts';
import type { CustomResourceDefinition } from './types/apiextensions/v1.ts';
import type { CertificateSigningRequest } from './types/certificates/v1.ts';
import type { Lease } from './types/coordination/v1.ts';
import type {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from './types/core/v1.ts';
import type { PriorityClass } from './types/scheduling/v1.ts';
import type { StorageClass } from './types/storage/v1.ts';

/** Resources that several parts of the server use, with the types of their objects. */

export const CONFIG_MAPS: ResourceOf<ConfigMap> = { group: '', resource: 'configmaps' };
export const ENDPOINTS: ResourceOf<Endpoints> = { group: '', resource: 'endpoints' };
export const EVENTS: ResourceOf<Event> = { group: '', resource: 'events' };
export const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
export const NODES: ResourceOf<Node> = { group: '', resource: 'nodes' };
export const CLAIMS: ResourceOf<PersistentVolumeClaim> = { group: '', resource: 'persistentvolumeclaims' };
export const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' };
export const QUOTAS: ResourceOf<ResourceQuota> = { group: '', resource: 'resourcequotas' };
export const SECRETS: ResourceOf<Secret> = { group: '', resource: 'secrets' };
export const SERVICE_ACCOUNTS: ResourceOf<ServiceAccount> = { group: '', resource: 'serviceaccounts' };
export const SERVICES: ResourceOf<Service> = { group: '', resource: 'services' };
export const MUTATING_POLICIES: ResourceOf<MutatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
};
export const MUTATING_POLICY_BINDINGS: ResourceOf<MutatingAdmissionPolicyBinding> = {
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicybindings',
};
export const POLICIES: ResourceOf<ValidatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
};
export const POLICY_BINDINGS: ResourceOf<ValidatingAdmissionPolicyBinding> = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
};
export const DEFINITIONS: ResourceOf<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};
export const SIGNING_REQUESTS: ResourceOf<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
};
export const LEASES: ResourceOf<Lease> = { group: 'coordination.k8s.io', resource: 'leases' };
export const PRIORITY_CLASSES: ResourceOf<PriorityClass> = {
  group: 'scheduling.k8s.io',
  resource: 'priorityclasses',
};
export const STORAGE_CLASSES: ResourceOf<StorageClass> = {
  group: 'storage.k8s.io',
  resource: 'storageclasses',
};
