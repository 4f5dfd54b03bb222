import { PODS } from '../../../api/known-resources.ts';
import type { ResourceOf } from '../../../api/names.ts';
import type { TokenRequest } from '../../../api/types/authentication/v1.ts';
import type { Pod } from '../../../api/types/core/v1.ts';
import { goQuote } from '../../../object/go-value.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { isWriteOf, refusal, type WriteOf } from '../../plugin.ts';
import { findAudience } from './audiences.ts';
import { nodeNameOf, noSuch, type WritingNode } from './own-objects.ts';

/** Tokens that a node asks for. */

/** The bodies of the subresource `token`. */
const TOKEN_REQUESTS: ResourceOf<TokenRequest> = { group: '', resource: 'serviceaccounts' };

/**
 * A node may ask only for tokens of its pods' accounts that end with the pod. A token is bound to at most one object, so this also
 * keeps a node from binding one to another node.
 */
export function checkToken(attributes: AdmissionAttributes, writing: WritingNode): Promise<void> | void {
  if (attributes.operation !== 'CREATE' || !isWriteOf(attributes, TOKEN_REQUESTS, 'token')) return undefined;
  const { apiVersion, kind, name = '', uid = '' } = attributes.object?.spec?.boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '')
    throw refusal(attributes, 'node requested token not bound to a pod');
  if (uid === '') throw refusal(attributes, 'node requested token with a pod binding without a uid');
  return checkPodOfToken(attributes, writing, { name, uid });
}

async function checkPodOfToken(
  attributes: WriteOf<TokenRequest>,
  writing: WritingNode,
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<void> {
  const { node, objects, isFeatureOn } = writing;
  const pod = await objects.find(PODS, attributes.namespace, name);
  if (pod === undefined) throw noSuch('pod', name);
  if (pod.metadata.uid !== uid)
    throw refusal(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (nodeNameOf(pod) !== node)
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node');
  if (isFeatureOn('ServiceAccountNodeAudienceRestriction')) await checkAudience(attributes, writing, pod);
}

/** The pod must want a token for the audience, or the node must have a right to it. */
async function checkAudience(
  attributes: WriteOf<TokenRequest>,
  { objects, access }: WritingNode,
  pod: Pod,
): Promise<void> {
  const [audience = '', ...more] = attributes.object?.spec?.audiences ?? [];
  if (more.length > 0) throw refusal(attributes, 'node may only request 0 or 1 audiences');
  const wanted = await findAudience(objects, pod, audience);
  if (wanted.isFound) return;
  const [first, ...others] = wanted.problems;
  if (first !== undefined) {
    const why = others.length === 0 ? first : `[${wanted.problems.join(', ')}]`;
    throw refusal(attributes, `error validating audience ${goQuote(audience)}: ${why}`);
  }
  const { user, namespace, name } = attributes;
  const right = { verb: AUDIENCE_VERB, group: '', version: 'v1', resource: audience, namespace, name };
  if ((await access.whyNot(user, right)) === undefined) return;
  throw refusal(
    attributes,
    `audience ${goQuote(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`,
  );
}

const AUDIENCE_VERB = 'request-serviceaccounts-token-audience';
