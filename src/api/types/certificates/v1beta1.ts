// Written from src/api/idl/certificates/v1beta1.proto by the build. Change that file, not this one.

export type { ClusterTrustBundle, ClusterTrustBundleList, ClusterTrustBundleSpec, PodCertificateRequest, PodCertificateRequestList, PodCertificateRequestSpec, PodCertificateRequestStatus } from './v1alpha1.ts';
