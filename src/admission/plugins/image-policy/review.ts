import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { objectOf, part, text } from '../../../object/parts.ts';
import type { WriteOf } from '../../write-of.ts';

const KIND = 'ImageReview';
const API_VERSION = 'imagepolicy.k8s.io/v1alpha1';

/** What a webhook said of some images. */
export interface ReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: readonly (readonly [key: string, value: string])[];
}

/** What is asked of a pod: of the ephemeral containers, where these are what is written, else of all the others. */
export function toReviewSpec({ object, subresource, namespace }: WriteOf<Pod>): JsonObject {
  const { containers: main, initContainers, ephemeralContainers } = object?.spec ?? {};
  const written = subresource === '' ? [...(main ?? []), ...(initContainers ?? [])] : ephemeralContainers;
  const containers = (written ?? []).map(({ image = '' }) => (image === '' ? {} : { image }));
  const annotations = Object.entries(object?.metadata.annotations ?? {}).filter(([key]) =>
    key.includes('.image-policy.k8s.io/'),
  );
  // In an order that does not depend on who wrote the pod: what is asked is the key to what was answered before.
  const sorted = annotations.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(containers.length === 0 ? {} : { containers }),
    ...(sorted.length === 0 ? {} : { annotations: Object.fromEntries(sorted) }),
    namespace,
  };
}

export const toReview = (spec: JsonObject): JsonObject => ({
  kind: KIND,
  apiVersion: API_VERSION,
  metadata: { creationTimestamp: null },
  spec,
  status: { allowed: false },
});

/** @throws Error for what is no review */
export function parseReviewStatus(answer: JsonValue): ReviewStatus {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error(`webhook answered with no ${KIND}`);
  const { kind = KIND, apiVersion = API_VERSION } = answer;
  if (kind !== KIND || apiVersion !== API_VERSION) {
    const what = `${text(apiVersion)}, Kind=${text(kind)}`;
    throw new Error(`webhook answered with ${what} instead of ${API_VERSION}, Kind=${KIND}`);
  }
  const { allowed, reason, auditAnnotations } = part(answer, 'status');
  const notes = Object.entries(objectOf(auditAnnotations));
  return {
    allowed: allowed === true,
    reason: text(reason),
    auditAnnotations: notes.map(([key, value]) => [key, text(value)] as const),
  };
}
