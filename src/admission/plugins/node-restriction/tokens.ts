import type { ResourceOf } from '../../../api/names.ts';
import type { TokenRequest } from '../../../api/types/authentication/v1.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import { PODS } from '../../resources.ts';
import { isWriteOf } from '../../write-of.ts';
import { nodeNameOf, noSuch } from './pods.ts';
import type { WritingNode } from './writing-node.ts';

/** Of the subresource `token`. */
const TOKEN_REQUESTS: ResourceOf<TokenRequest> = { group: '', resource: 'serviceaccounts' };

/**
 * A node asks for tokens of its pods' accounts only, and only for tokens that end with the pod. A token is bound to one object
 * at most, so that this keeps a node from binding one to another node, too.
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
  attributes: AdmissionAttributes,
  { node, objects }: WritingNode,
  { name, uid }: { readonly name: string; readonly uid: string },
): Promise<void> {
  const pod = await objects.find(PODS, attributes.namespace, name);
  if (pod === undefined) throw noSuch('pod', name);
  if (pod.metadata.uid !== uid)
    throw refusal(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (nodeNameOf(pod) !== node)
    throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node');
}
