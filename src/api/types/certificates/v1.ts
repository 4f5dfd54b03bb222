// Written from src/api/idl/certificates/v1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Asks for a certificate to be signed. Somebody approves or denies it; then the signer issues the certificate. */
export type CertificateSigningRequest = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which certificate is wanted, by whom and from whom. */
  spec?: CertificateSigningRequestSpec;
  /** What was decided, and the certificate. Written by approvers and the signer. */
  status?: CertificateSigningRequestStatus;
};

/** A decision about a request: Approved or Denied, which exclude each other and stay, or Failed, by the signer. */
export type CertificateSigningRequestCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
  /** When this entry was last written. */
  lastUpdateTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
};

/** A list of certificate signing requests. */
export type CertificateSigningRequestList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The CertificateSigningRequests of this page. */
  items?: CertificateSigningRequest[] | null;
};

/** Which certificate is wanted, by whom and from whom. Cannot be changed. */
export type CertificateSigningRequestSpec = {
  /** The request in the form of PKCS#10, in PEM with the heading CERTIFICATE REQUEST; in JSON once more in base64. */
  request?: string | null;
  /** Who is to sign, such as kubernetes.io/kube-apiserver-client. Each signer has its own rules for what it signs. */
  signerName?: string;
  /** Seconds the certificate is wanted to be valid, at least 600. The signer may choose another time, and chooses alone unless set. */
  expirationSeconds?: number;
  /** What the key may be used for, such as client auth and digital signature. At least one, each once. */
  usages?: string[];
  /** Name of the user who made the request. Set by the server. */
  username?: string;
  /** UID of the user who made the request. Set by the server. */
  uid?: string;
  /** Groups of the user who made the request. Set by the server. */
  groups?: string[];
  /** What else is known about the user who made the request. Set by the server. */
  extra?: { [key: string]: string[] };
};

/** What was decided, and the certificate. */
export type CertificateSigningRequestStatus = {
  /** Decisions about the request. Without Approved, nothing is signed. */
  conditions?: CertificateSigningRequestCondition[];
  /** The certificate and those between it and the root, in PEM; in JSON once more in base64. Empty until it is issued; cannot be changed then. */
  certificate?: string;
};
