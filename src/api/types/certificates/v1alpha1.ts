// Written from src/api/idl/certificates/v1alpha1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

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
