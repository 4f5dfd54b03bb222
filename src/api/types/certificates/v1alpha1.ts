// Written from src/api/idl/certificates/v1alpha1.proto by the build. Change that file, not this one.

import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Root certificates that can be given to pods. Needs the feature gate ClusterTrustBundle. */
export type ClusterTrustBundle = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The certificates, and whose they are. */
  spec?: ClusterTrustBundleSpec;
};

/** A list of cluster trust bundles. */
export type ClusterTrustBundleList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ClusterTrustBundles of this page. */
  items?: ClusterTrustBundle[] | null;
};

/** The certificates, and whose they are. */
export type ClusterTrustBundleSpec = {
  /** The signer the certificates belong to; the name of the bundle must then begin with it, with : in place of /, and another :. Writing the bundle takes the verb attest on the signer. None unless set; cannot be changed. */
  signerName?: string;
  /** The certificates, in PEM, each once, without headers, and at most 1 MiB in all. Their order means nothing. */
  trustBundle?: string;
};

/** The request of a node agent for a certificate of one of its pods. Needs the feature gate PodCertificateRequest. */
export type PodCertificateRequest = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which certificate is wanted, for which pod. */
  spec?: PodCertificateRequestSpec;
  /** The certificate, or why there is none. Written by the signer. */
  status?: PodCertificateRequestStatus;
};

/** A list of pod certificate requests. */
export type PodCertificateRequestList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PodCertificateRequests of this page. */
  items?: PodCertificateRequest[] | null;
};

/** Which certificate is wanted, for which pod. Cannot be changed. */
export type PodCertificateRequestSpec = {
  /** The signer that is asked. */
  signerName?: string;
  /** Name of the pod, in the same namespace. */
  podName?: string;
  /** UID of the pod. */
  podUID?: string;
  /** Name of the service account of the pod. */
  serviceAccountName?: string;
  /** UID of the service account. */
  serviceAccountUID?: string;
  /** Name of the node that the pod runs on. */
  nodeName?: string;
  /** UID of the node. */
  nodeUID?: string;
  /** The longest time the certificate may be valid, in seconds: from 3600, an hour, to 7862400, which is 91 days, or for signers of kubernetes.io to 86400, a day. 86400 unless set. */
  maxExpirationSeconds?: number;
  /** The public key, serialized as PKIX: RSA with 3072 or 4096 bits, ECDSA on P-256, P-384 or P-521, or Ed25519. */
  pkixPublicKey?: string;
  /** The UID of the pod, signed with the private key: RSASSA-PSS over SHA-256, ECDSA over SHA-256 in ASN.1, or Ed25519. */
  proofOfPossession?: string;
  /** What the author of the pod lets the signer know, under names that begin with a domain. Not verified. */
  unverifiedUserAnnotations?: { [key: string]: string };
  /** A certificate request in DER, signed with the private key, in place of pkixPublicKey and proofOfPossession. The node agent puts nothing into it but the key. */
  stubPKCS10Request?: string;
};

/** The certificate, or why there is none. */
export type PodCertificateRequestStatus = {
  /** Issued, Denied or Failed: at most one of them, which is True and stays. */
  conditions?: Condition[];
  /** The certificates in PEM, that for the key first. */
  certificateChain?: string;
  /** From when the certificate is valid. */
  notBefore?: string;
  /** When the node agent should begin to ask for the next one. */
  beginRefreshAt?: string;
  /** Until when the certificate is valid. */
  notAfter?: string;
};
