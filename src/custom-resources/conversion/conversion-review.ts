import { randomUUID } from 'node:crypto';
import { canonicalApiVersion } from '../../api/dialect.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { JsonValue } from '../../api/object-meta.ts';
import type { ConversionReview } from '../../api/types/apiextensions/v1.ts';
import { decodeObject } from '../../codec/decode.ts';
import { cannotUnmarshal } from '../../codec/decode-error.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject, stringOf } from '../../object/json-values.ts';
import { errorText } from '../../util/error-text.ts';

/** ConversionReview (apiextensions.k8s.io): the request to a conversion webhook, and its response. */

export type ReviewVersion = 'v1' | 'v1beta1';
const GROUP = 'apiextensions.k8s.io';

/** The first version that both sides support. @throws Error when there is none */
export function reviewVersionOf(accepted: readonly string[]): ReviewVersion {
  const found = accepted.find(isReviewVersion);
  if (found !== undefined) return found;
  throw new Error('no supported conversion review versions');
}

const isReviewVersion = (version: string): version is ReviewVersion =>
  version === 'v1' || version === 'v1beta1';

/** Kubernetes' empty response in a request. */
const NO_RESPONSE = '{"uid":"","convertedObjects":null,"result":{"metadata":{}}}';

/** `objects`: the JSON of each. */
export function createReview(
  version: ReviewVersion,
  desiredApiVersion: string,
  objects: readonly string[],
): { readonly uid: string; readonly body: Buffer } {
  const uid = randomUUID();
  const head = `{"kind":"ConversionReview","apiVersion":"${GROUP}/${version}"`;
  const request = `"request":{"uid":"${uid}","desiredAPIVersion":${JSON.stringify(desiredApiVersion)},"objects":[`;
  const text = `${head},${request}${objects.join(',')}]},"response":${NO_RESPONSE}}`;
  return { uid, body: Buffer.from(text) };
}

/** The response is not a valid review. */
class UnreadableReview extends Error {}

/** Both versions are equal. @throws UnreadableReview */
export function decodeReview(body: Buffer, types: TypeLibrary): ConversionReview {
  const value = parse(body);
  if (!isObject(value)) throw unreadable(cannotUnmarshal(value, HEAD_TYPE));
  const { kind, apiVersion } = value;
  try {
    const { object } = decodeObject(value, types.message('apiextensions/v1.ConversionReview'));
    return { ...object, kind: stringOf(kind), apiVersion: stringOf(apiVersion) };
  } catch (error) {
    throw new UnreadableReview(errorText(error), { cause: error });
  }
}

const HEAD_TYPE = 'struct { APIVersion string; Kind string }';

const unreadable = (why: string, cause?: unknown): UnreadableReview =>
  new UnreadableReview(`couldn't get version/kind; json parse error: ${why}`, { cause });

function parse(body: Buffer): JsonValue {
  try {
    return parseJsonBytes(body);
  } catch (error) {
    throw unreadable(errorText(error), error);
  }
}

/**
 * Returns the converted objects of a review, unchecked. Version v1 is strict where v1beta1 tolerates careless webhooks.
 * @throws Error about an invalid response, or with the webhook's own reason
 */
export function convertedObjects(
  { kind = '', apiVersion = '', response }: ConversionReview,
  version: ReviewVersion,
  uid: string,
): readonly JsonValue[] {
  const given = `${withSlash(canonicalApiVersion(apiVersion))}, Kind=${kind}`;
  const wanted = `${GROUP}/v1, Kind=ConversionReview`;
  if (version === 'v1' && given !== wanted)
    throw new Error(`expected webhook response of ${wanted}, got ${given}`);
  if (response === undefined) throw new Error('no response provided');
  const { uid: givenUid = '', result = {}, convertedObjects: objects } = response;
  if (version === 'v1' && givenUid !== uid)
    throw new Error(`expected response.uid="${uid}", got ${JSON.stringify(givenUid)}`);
  const { status = '', message = '' } = result;
  if (status !== 'Success')
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : message);
  return objects ?? [];
}

const withSlash = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion : `/${apiVersion}`);
