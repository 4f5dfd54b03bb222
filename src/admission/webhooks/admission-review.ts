import { randomUUID } from 'node:crypto';
import { canonicalApiVersion } from '../../api/dialect.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import { toApiVersion } from '../../api/names.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { AdmissionResponse, AdmissionReview } from '../../api/types/admission/v1.ts';
import type { Status } from '../../api/types/meta/v1.ts';
import { decodeObject } from '../../codec/decode.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject, stringOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { requestOf } from '../request-form.ts';
import type { Candidate } from './webhook.ts';

/** AdmissionReview (admission.k8s.io): the question to a webhook, and its answer. */

export type ReviewVersion = 'v1' | 'v1beta1';
const GROUP = 'admission.k8s.io';

/** The first version that both sides know. @throws Error when there is none */
export function reviewVersionOf(accepted: readonly string[]): ReviewVersion {
  const found = accepted.find(isReviewVersion);
  if (found !== undefined) return found;
  throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
}

const isReviewVersion = (version: string): version is ReviewVersion =>
  version === 'v1' || version === 'v1beta1';

export interface SeenObjects {
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
}

export function createReview(
  version: ReviewVersion,
  attributes: AdmissionAttributes,
  { candidate, objects }: { readonly candidate: Candidate; readonly objects: SeenObjects },
): { readonly uid: string; readonly review: JsonObject } {
  const uid = randomUUID();
  const request = { uid, ...requestOf(attributes, candidate), ...objects };
  return { uid, review: { kind: 'AdmissionReview', apiVersion: `${GROUP}/${version}`, request } };
}

/** The answer of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  /** The given fields of a Status. */
  readonly status: Status | undefined;
  /** Undefined: none. */
  readonly patch: Buffer | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

interface Asked {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly mutating: boolean;
}

/** The answer is not an AdmissionReview. */
class UnreadableReview extends Error {}

/** @throws UnreadableReview */
export function decodeReview(body: Buffer, version: ReviewVersion, types: TypeLibrary): AdmissionReview {
  const value = parse(body);
  const { kind, apiVersion } = value;
  try {
    const { object } = decodeObject(value, types.message(`admission/${version}.AdmissionReview`));
    return { ...object, kind: stringOf(kind), apiVersion: stringOf(apiVersion) };
  } catch (error) {
    throw new UnreadableReview(errorText(error), { cause: error });
  }
}

function parse(body: Buffer): JsonObject {
  let value: JsonValue;
  try {
    value = parseJsonBytes(body);
  } catch (error) {
    const why = errorText(error);
    throw new UnreadableReview(`couldn't get version/kind; json parse error: ${why}`, { cause: error });
  }
  if (isObject(value)) return value;
  throw new UnreadableReview(
    "couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct { APIVersion string; Kind string }",
  );
}

/**
 * Version v1 is strict where v1beta1 lets webhooks be careless (Kubernetes: admission/plugin/webhook/request).
 * @throws Error about an invalid answer
 */
export function toVerdict(review: AdmissionReview, asked: Asked): Verdict {
  const { response } = review;
  if (response === undefined) throw new Error('webhook response was absent');
  if (asked.version === 'v1') checkStrictly(review, response, asked);
  const patch = Buffer.from(response.patch ?? '', 'base64');
  const taken = asked.mutating && patch.length > 0;
  return {
    allowed: response.allowed === true,
    status: response.status,
    patch: taken ? patch : undefined,
    patchType: asked.version === 'v1' ? (response.patchType ?? '') : 'JSONPatch',
    warnings: response.warnings ?? [],
    auditAnnotations: response.auditAnnotations ?? {},
  };
}

function checkStrictly(review: AdmissionReview, response: AdmissionResponse, { uid, mutating }: Asked): void {
  const { uid: givenUid = '', patch = '', patchType } = response;
  if (givenUid !== uid) throw new Error(`expected response.uid="${uid}", got "${givenUid}"`);
  const wanted = `${toApiVersion({ group: GROUP, version: 'v1' })}, Kind=AdmissionReview`;
  const apiVersion = canonicalApiVersion(review.apiVersion ?? '');
  const given = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${review.kind ?? ''}`;
  if (given !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${given}`);
  const hasPatch = patch !== '';
  const hasType = patchType !== undefined;
  if (!mutating) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (hasType) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && !hasType) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}
