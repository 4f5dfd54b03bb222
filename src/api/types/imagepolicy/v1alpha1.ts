// Written from src/api/idl/imagepolicy/v1alpha1.proto by the build. Change that file, not this one.

import type { ObjectMeta } from '../meta/v1.ts';

/** Asks a webhook whether the images of a pod are allowed. */
export type ImageReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: ImageReviewSpec;
  /** The answer. Filled in by the webhook. */
  status?: ImageReviewStatus;
};

/** A container of the pod. */
export type ImageReviewContainerSpec = {
  /** Name of its image, possibly with tag or digest. */
  image?: string;
};

/** The images in question. */
export type ImageReviewSpec = {
  /** The containers of the pod. */
  containers?: ImageReviewContainerSpec[];
  /** Those annotations of the pod whose keys match *.image-policy.k8s.io/*. */
  annotations?: { [key: string]: string };
  /** Namespace of the pod. */
  namespace?: string;
};

/** The answer. */
export type ImageReviewStatus = {
  /** All the images are allowed. */
  allowed?: boolean;
  /** Why they are not, for people. */
  reason?: string;
  /** Notes for the audit log. Their keys get the name of the admission plugin in front. */
  auditAnnotations?: { [key: string]: string };
};
